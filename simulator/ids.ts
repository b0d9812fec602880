import { randomBytes, randomInt } from 'node:crypto';

/** Returns 43 random characters of base64url, for secrets and unguessable ids. */
export function randomText(): string {
  return randomBytes(32).toString('base64url');
}

/** Returns 40 hexadecimal digits, like Canvas's course ids. */
export function hexId(): string {
  return randomBytes(20).toString('hex');
}

/** Returns 15 letters and digits, like Moodle's client ids. */
export function randomClientId(): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
  return Array.from({ length: 15 }, () => alphabet[randomInt(alphabet.length)]).join('');
}
