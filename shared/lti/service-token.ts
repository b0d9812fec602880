import { randomUUID } from 'node:crypto';
import { SignJWT } from 'jose';
import { LRUCache } from 'lru-cache';
import { atMost } from '../platform/cache-size.ts';
import { z } from 'zod';
import { untilAborted } from '../platform/abort-listeners.ts';
import type { LtiPlatform } from '../models/lti-platform.ts';
import type { LtiKeys } from './keys.ts';
import { isWebPage } from '../platform/http/web-page.ts';
import { responseJson } from './platform-requests.ts';
import type { PlatformClient, PlatformResponse } from './platform-requests.ts';
import { isSuccess } from '../platform/http/request.ts';

/** The validity of an assertion. It is sent at once, but clocks differ. */
const assertionSeconds = 300;
/** Lectern does not use a token in its last seconds, because it could expire in transit. */
const marginSeconds = 60;
/** For a token without an expiry. */
const defaultTtlSeconds = 300;
const maxTtlSeconds = 24 * 3600;

const maxTokens = 10_000;
const maxBodyCharacters = 2_000;

export type TokenPlatform = Pick<LtiPlatform, '_id' | 'clientId' | 'tokenUrl' | 'tokenAudience' | 'keySetId'>;

/** A cache of access tokens for the services of platforms, such as their gradebooks. */
export interface ServiceTokens {
  /**
   * Returns an access token for all of these scopes. Concurrent callers share one request.
   *
   * @param signal ends only this caller's wait.
   * @throws {ServiceTokenError} if the platform rejects the request; {PlatformRequestError} if it does not respond.
   */
  get(platform: TokenPlatform, scopes: readonly string[], signal?: AbortSignal): Promise<string>;
  /** Drops a token that the platform rejected, so that the next call requests another. */
  forget(platform: TokenPlatform, scopes: readonly string[]): void;
}

/** A platform's response to a token request holds no token. */
export class ServiceTokenError extends Error {
  override readonly name = 'ServiceTokenError';
  /** 200 for any 2xx response without a token. */
  readonly status: number;
  /** The beginning of the response. */
  readonly body: string;
  /** The header Retry-After. */
  readonly retryAfter: string | null;
  /** Whether a success was a web page. */
  readonly hasPage: boolean;

  constructor({ status, text, headers }: PlatformResponse) {
    const succeeded = isSuccess(status);
    const hasPage = succeeded && isWebPage({ contentType: headers.get('content-type'), text });
    const returned = hasPage ? 'a web page' : succeeded ? 'no token' : status;
    super(`The platform returned ${returned} for a token request`);
    this.status = succeeded ? 200 : status;
    this.body = text.slice(0, maxBodyCharacters);
    this.retryAfter = headers.get('retry-after');
    this.hasPage = hasPage;
  }
}

interface Dependencies {
  client: PlatformClient;
  keys: LtiKeys;
}

interface CachedToken {
  token: Promise<string>;
  /** In milliseconds; 0 while the request is pending. */
  expiresAt: number;
}

/** @param now the clock, in milliseconds; tests replace it. */
export function createServiceTokens(deps: Dependencies, now: () => number = Date.now): ServiceTokens {
  const tokens = new LRUCache<string, CachedToken>(atMost(maxTokens));
  return {
    async get(platform, scopes, signal) {
      signal?.throwIfAborted();
      const key = keyOf(platform, scopes);
      const cached = tokens.get(key);
      if (cached !== undefined && (cached.expiresAt === 0 || now() < cached.expiresAt)) {
        return untilAborted(cached.token, signal);
      }
      const startedAt = now();
      const fetched = fetchToken(deps, platform, scopes, startedAt);
      const fresh: CachedToken = { token: fetched.then(({ token }) => token), expiresAt: 0 };
      tokens.set(key, fresh);
      fetched.then(
        ({ ttlSeconds }) => (fresh.expiresAt = startedAt + ttlSeconds * 1000),
        () => tokens.peek(key) === fresh && tokens.delete(key),
      );
      return untilAborted(fresh.token, signal);
    },
    forget(platform, scopes) {
      const key = keyOf(platform, scopes);
      // A token whose request is pending is not the rejected one.
      if (tokens.peek(key)?.expiresAt !== 0) tokens.delete(key);
    },
  };
}

/** Includes the platform's registration data, because a token is invalid after they change. */
function keyOf({ _id, clientId, tokenUrl }: TokenPlatform, scopes: readonly string[]): string {
  return JSON.stringify([_id, clientId, tokenUrl, ...[...new Set(scopes)].sort()]);
}

const responseSchema = z.object({
  access_token: z.string().min(1),
  expires_in: z.coerce.number().min(0).optional().catch(undefined),
});

/** @returns the token, and its remaining validity from `startedAt`. */
async function fetchToken(
  { client, keys }: Dependencies,
  platform: TokenPlatform,
  scopes: readonly string[],
  startedAt: number,
): Promise<{ token: string; ttlSeconds: number }> {
  const form = new URLSearchParams({
    grant_type: 'client_credentials',
    client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    client_assertion: await signAssertion(keys, platform, Math.floor(startedAt / 1000)),
    scope: [...new Set(scopes)].sort().join(' '),
  });
  const response = await client.request(platform.tokenUrl, {
    method: 'POST',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded', Accept: 'application/json' },
    body: form.toString(),
  });
  const parsed = responseSchema.safeParse(responseJson(response));
  if (!isSuccess(response.status) || !parsed.success) {
    throw new ServiceTokenError(response);
  }
  const { access_token: token, expires_in: expiresIn } = parsed.data;
  const seconds = expiresIn === undefined ? defaultTtlSeconds : Math.min(expiresIn, maxTtlSeconds);
  // The margin leaves at least half of a short validity.
  return { token, ttlSeconds: Math.max(seconds - marginSeconds, seconds / 2) };
}

async function signAssertion(
  keys: LtiKeys,
  { clientId, tokenUrl, tokenAudience, keySetId }: TokenPlatform,
  seconds: number,
): Promise<string> {
  const { kid, privateKey } = await keys.signer(keySetId);
  return new SignJWT()
    .setProtectedHeader({ alg: 'RS256', typ: 'JWT', kid })
    .setIssuer(clientId)
    .setSubject(clientId)
    .setAudience(tokenAudience ?? tokenUrl)
    .setIssuedAt(seconds)
    .setExpirationTime(seconds + assertionSeconds)
    .setJti(randomUUID())
    .sign(privateKey);
}
