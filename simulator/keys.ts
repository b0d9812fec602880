import { KeyObject } from 'node:crypto';
import { calculateJwkThumbprint, exportJWK, generateKeyPair } from 'jose';
import type { CryptoKey, JWK } from 'jose';

export interface PlatformKey {
  kid: string;
  publicJwk: JWK;
  privateKey: CryptoKey;
}

/** All keys are published, and the last one signs. */
export type PlatformKeys = [PlatformKey, ...PlatformKey[]];

/** Creates an RSA key of 2048 bits, with its thumbprint as `kid`. */
export async function createPlatformKey(): Promise<PlatformKey> {
  const { publicKey, privateKey } = await generateKeyPair('RS256', { extractable: true });
  const jwk = await exportJWK(publicKey);
  const kid = await calculateJwkThumbprint(jwk);
  return { kid, publicJwk: { ...jwk, kid, alg: 'RS256', use: 'sig' }, privateKey };
}

export function signingKey(keys: PlatformKeys): PlatformKey {
  return keys.at(-1) ?? keys[0];
}

/** Converts a key for Node.js's crypto, which makes invalid tokens that jose does not make. */
export function toKeyObject({ privateKey }: PlatformKey): KeyObject {
  return KeyObject.from(privateKey);
}
