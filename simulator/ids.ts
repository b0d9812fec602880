import { randomBytes, randomInt } from 'node:crypto';

/** A secret, or a name that nobody guesses: 43 characters of base64url. */
export function randomText(): string {
  return randomBytes(32).toString('base64url');
}

/** 40 hexadecimal digits, as Canvas names courses. */
export function hexId(): string {
  return randomBytes(20).toString('hex');
}

/** 15 letters and digits, as Moodle names clients. */
export function clientIdOf(): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
  return Array.from({ length: 15 }, () => alphabet[randomInt(alphabet.length)]).join('');
}
