import { KeyObject } from 'node:crypto';
import { calculateJwkThumbprint, exportJWK, generateKeyPair } from 'jose';
import type { CryptoKey, JWK } from 'jose';

export interface PlatformKey {
  kid: string;
  publicJwk: JWK;
  privateKey: CryptoKey;
}

/** The platform's keys: the last one signs, all are published. */
export type PlatformKeys = [PlatformKey, ...PlatformKey[]];

/** A new RSA key of 2048 bits, named by its thumbprint. */
export async function createPlatformKey(): Promise<PlatformKey> {
  const { publicKey, privateKey } = await generateKeyPair('RS256', { extractable: true });
  const jwk = await exportJWK(publicKey);
  const kid = await calculateJwkThumbprint(jwk);
  return { kid, publicJwk: { ...jwk, kid, alg: 'RS256', use: 'sig' }, privateKey };
}

export function signingKey(keys: PlatformKeys): PlatformKey {
  return keys.at(-1) ?? keys[0];
}

/** The key as Node.js's own cryptography takes it: for tokens that jose rightly refuses to make. */
export function asKeyObject({ privateKey }: PlatformKey): KeyObject {
  return KeyObject.from(privateKey);
}
