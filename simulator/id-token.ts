import { createHmac, createPublicKey, sign } from 'node:crypto';
import { SignJWT } from 'jose';
import { asKeyObject, createPlatformKey, signingKey } from './keys.ts';
import type { PlatformKey, PlatformKeys } from './keys.ts';

type Json = Record<string, unknown>;

/** What is made wrong about an id_token, so that a tool can be seen to refuse it. */
export interface Tampering {
  /** Laid over the claims; undefined takes one away. */
  claims?: Json;
  /** Laid over the header; undefined takes a parameter away. */
  header?: Json;
  /**
   * Who signs: the platform; a key of somebody else under the platform's `kid`; nobody (`alg` none, no signature);
   * HMAC with the platform's public key as its secret (`alg` HS256); or the platform, with one bit changed.
   */
  signature?: 'platform' | 'another key' | 'none' | 'HS256' | 'broken';
  /** Has the last word on the whole token. */
  edit?: (token: string) => string;
}

const lifetimeSeconds = 300;

/** Signs the claims of a message, as `tampering` has it. Times are added: issued now, good for five minutes. */
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
  const privateKey = asKeyObject(key);
  if (kind === 'none') return Buffer.alloc(0);
  if (kind === 'HS256') {
    const publicKey = createPublicKey(privateKey).export({ type: 'spki', format: 'pem' });
    return createHmac('sha256', publicKey).update(text).digest();
  }
  const signature = sign('sha256', Buffer.from(text), privateKey);
  if (kind === 'broken') signature[0] = (signature[0] ?? 0) ^ 1;
  return signature;
}
