import { createRemoteJWKSet, jwtVerify } from 'jose';
import type { JWTPayload, JWTVerifyGetKey } from 'jose';
import { messageOf } from '../shared/platform/errors.ts';
import type { Tool } from './model.ts';
import type { Platform } from './platform.ts';
import { Rejection } from './http.ts';

const fetchTimeoutMs = 10_000;

/** The longest validity of a tool's JWT. */
const maxTtlSeconds = 3600;

export interface Expected {
  audience: string;
  /** The claim whose value may be used once. */
  once: 'jti' | 'nonce';
  /** The error code of a rejection. */
  code: string;
  status: number;
}

/**
 * Verifies a JWT that a tool signed for the platform: RS256 with a key of the tool's JWKS, its client id as `iss`, not
 * expired and not used before.
 *
 * @throws {Rejection}
 */
export async function verifyToolJwt(
  platform: Platform,
  tool: Tool,
  token: string,
  { audience, once, code, status }: Expected,
): Promise<JWTPayload> {
  const reject = (message: string) => new Rejection(status, code, message);
  const payload = await verify(platform, tool, token, audience).catch((error: unknown) => {
    throw reject(`The token of ${tool.name} cannot be verified: ${messageOf(error)}`);
  });
  const { exp = 0, iat } = payload;
  if (exp - (iat ?? Date.now() / 1000) > maxTtlSeconds) throw reject('It is valid for longer than an hour.');
  useOnce(platform, `${tool.clientId} ${once}`, payload[once], reject);
  return payload;
}

async function verify(platform: Platform, tool: Tool, token: string, audience: string): Promise<JWTPayload> {
  const { payload } = await jwtVerify(token, keysOf(platform, tool), {
    algorithms: ['RS256'],
    issuer: tool.clientId,
    audience,
    requiredClaims: ['exp', 'iat'],
    clockTolerance: 5,
  });
  return payload;
}

/** Returns the tool's keys, which are fetched at the first use, and again for an unknown `kid`. */
function keysOf({ toolKeys }: Platform, { jwksUrl }: Tool): JWTVerifyGetKey {
  const known = toolKeys.get(jwksUrl);
  if (known !== undefined) return known;
  const url = new URL(jwksUrl);
  const keys = createRemoteJWKSet(url, { timeoutDuration: fetchTimeoutMs, cooldownDuration: 1000 });
  toolKeys.set(jwksUrl, keys);
  return keys;
}

function useOnce(
  { used }: Platform,
  owner: string,
  value: unknown,
  reject: (message: string) => Rejection,
): void {
  if (typeof value !== 'string' || value === '') throw reject(`It has no ${owner.split(' ')[1] ?? ''}.`);
  const name = `${owner} ${value}`;
  if (used.has(name)) throw reject('It was used before.');
  used.set(name, true);
}
