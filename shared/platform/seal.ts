import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

const cipher = 'aes-256-gcm';
const ivBytes = 12;
const tagBytes = 16;

/** The purpose of a sealed secret and the document that holds it. No other scope can open it. */
export interface SealScope {
  /** Such as "lectern webhooks". Each purpose has its own key. */
  purpose: string;
  /** The id of the document, as authenticated data, so that secrets cannot be swapped between documents. */
  id: string;
}

/** Encrypts a secret for storage (AES-256-GCM). Returns IV, tag and ciphertext, in base64. @param pepper the key pepper. */
export function seal(text: string, { purpose, id }: SealScope, pepper: string): string {
  const iv = randomBytes(ivBytes);
  const encryption = createCipheriv(cipher, keyOf(purpose, pepper), iv).setAAD(Buffer.from(id));
  const ciphertext = Buffer.concat([encryption.update(text, 'utf8'), encryption.final()]);
  return Buffer.concat([iv, encryption.getAuthTag(), ciphertext]).toString('base64');
}

/** Decrypts a sealed secret. @throws {Error} if the pepper or the scope differs, or the text is damaged. */
export function unseal(sealed: string, { purpose, id }: SealScope, pepper: string): string {
  const bytes = Buffer.from(sealed, 'base64');
  const decryption = createDecipheriv(cipher, keyOf(purpose, pepper), bytes.subarray(0, ivBytes))
    .setAAD(Buffer.from(id))
    .setAuthTag(bytes.subarray(ivBytes, ivBytes + tagBytes));
  return decryption.update(bytes.subarray(ivBytes + tagBytes), undefined, 'utf8') + decryption.final('utf8');
}

function keyOf(purpose: string, pepper: string): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', pepper, '', purpose, 32));
}
