import { createRemoteJWKSet, jwtVerify } from 'jose';
import type { JWTPayload, JWTVerifyGetKey } from 'jose';
import { messageOf } from '../shared/platform/errors.ts';
import type { Tool } from './model.ts';
import type { Platform } from './platform.ts';
import { Refusal } from './http.ts';

const fetchMilliseconds = 10_000;

/** An assertion that would be good for longer than an hour is none. */
const longestSeconds = 3600;

export interface Expected {
  audience: string;
  /** The claim that may be used once: `jti` or `nonce`. */
  once: 'jti' | 'nonce';
  /** OAuth's code of a refusal. */
  code: string;
  status: number;
}

/**
 * Verifies a JWT that a tool signed for the platform: RS256, by a key of the tool's JWKS, `iss` its client id, not
 * expired, and never seen before.
 *
 * @throws {Refusal} that says what is wrong
 */
export async function verifyToolJwt(
  platform: Platform,
  tool: Tool,
  token: string,
  { audience, once, code, status }: Expected,
): Promise<JWTPayload> {
  const refuse = (message: string) => new Refusal(status, code, message);
  const payload = await verify(platform, tool, token, audience).catch((error: unknown) => {
    throw refuse(`The token of ${tool.name} cannot be verified: ${messageOf(error)}`);
  });
  const { exp = 0, iat } = payload;
  if (exp - (iat ?? Date.now() / 1000) > longestSeconds) throw refuse('It is good for longer than an hour.');
  useOnce(platform, `${tool.clientId} ${once}`, payload[once], refuse);
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

/** The tool's keys, fetched when they are needed first, and again for a `kid` that is not among them. */
function keysOf({ toolKeys }: Platform, { jwksUrl }: Tool): JWTVerifyGetKey {
  const known = toolKeys.get(jwksUrl);
  if (known !== undefined) return known;
  const url = new URL(jwksUrl);
  const keys = createRemoteJWKSet(url, { timeoutDuration: fetchMilliseconds, cooldownDuration: 1000 });
  toolKeys.set(jwksUrl, keys);
  return keys;
}

function useOnce(
  { used }: Platform,
  owner: string,
  value: unknown,
  refuse: (message: string) => Refusal,
): void {
  if (typeof value !== 'string' || value === '') throw refuse(`It has no ${owner.split(' ')[1] ?? ''}.`);
  const name = `${owner} ${value}`;
  if (used.has(name)) throw refuse('It was used before.');
  used.set(name, true);
}
