import { createHmac, createPublicKey, sign } from 'node:crypto';
import { SignJWT } from 'jose';
import { toKeyObject, createPlatformKey, signingKey } from './keys.ts';
import type { PlatformKey, PlatformKeys } from './keys.ts';

type Json = Record<string, unknown>;

/** Faults of an id_token, to show that a tool rejects it. */
export interface Tampering {
  /** Changes to the claims; undefined removes one. */
  claims?: Json;
  /** Changes to the header; undefined removes a parameter. */
  header?: Json;
  /**
   * Signed by the platform (default), by another key with the platform's `kid`, not signed (`alg` none), by HMAC with
   * the platform's public key as its secret (`alg` HS256), or by the platform with one bit changed.
   */
  signature?: 'platform' | 'another key' | 'none' | 'HS256' | 'broken';
  /** Changes the signed token. */
  edit?: (token: string) => string;
}

const lifetimeSeconds = 300;

/** Signs the claims of a message. The token is valid for five minutes. */
export async function signIdToken(keys: PlatformKeys, claims: Json, tampering?: Tampering): Promise<string> {
  const key = signingKey(keys);
  const now = Math.floor(Date.now() / 1000);
  const payload = { iat: now, exp: now + lifetimeSeconds, ...claims };
  const header = { alg: 'RS256', typ: 'JWT', kid: key.kid };
  if (tampering !== undefined) return tamperedToken(key, header, payload, tampering);
  return new SignJWT(payload).setProtectedHeader(header).sign(key.privateKey);
}

async function tamperedToken(
  key: PlatformKey,
  header: Json,
  payload: Json,
  { signature = 'platform', edit, ...changes }: Tampering,
): Promise<string> {
  const alg = { none: 'none', HS256: 'HS256' }[signature as string] ?? 'RS256';
  // JSON leaves out what is undefined.
  const text = [
    { ...header, alg, ...changes.header },
    { ...payload, ...changes.claims },
  ]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');
  const signer = signature === 'another key' ? await createPlatformKey() : key;
  const token = `${text}.${signatureOf(text, signer, signature).toString('base64url')}`;
  return edit === undefined ? token : edit(token);
}

function signatureOf(text: string, key: PlatformKey, kind: NonNullable<Tampering['signature']>): Buffer {
  const privateKey = toKeyObject(key);
  if (kind === 'none') return Buffer.alloc(0);
  if (kind === 'HS256') {
    const publicKey = createPublicKey(privateKey).export({ type: 'spki', format: 'pem' });
    return createHmac('sha256', publicKey).update(text).digest();
  }
  const signature = sign('sha256', Buffer.from(text), privateKey);
  if (kind === 'broken') signature[0] = (signature[0] ?? 0) ^ 1;
  return signature;
}
