import { randomUUID } from 'node:crypto';
import { SignJWT } from 'jose';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { onAbort } from '../platform/abort-listeners.ts';
import type { LtiPlatform } from '../models/lti-platform.ts';
import type { LtiKeys } from './keys.ts';
import { responseJson } from './platform-requests.ts';
import type { PlatformClient } from './platform-requests.ts';

/** How long an assertion may be used: it is sent at once, but clocks differ. */
const assertionSeconds = 300;
/** A token is not used in its last seconds, in which it could expire on the way. */
const marginSeconds = 60;
/** How long a token is used that does not say when it ends. */
const unknownSeconds = 300;
const mostSeconds = 24 * 3600;

const mostTokens = 10_000;
const mostBodyCharacters = 2_000;

/** What a token is asked for. */
export type TokenPlatform = Pick<LtiPlatform, '_id' | 'clientId' | 'tokenUrl' | 'tokenAudience'>;

/** Access to the services of platforms, such as their gradebooks. */
export interface ServiceTokens {
  /**
   * An access token for all of these scopes; one request for all who ask at once, and none while there is a good one.
   *
   * @param signal ends the caller's own wait alone.
   * @throws {ServiceTokenError} when the platform refuses; {PlatformRequestError} when it does not answer.
   */
  get(platform: TokenPlatform, scopes: readonly string[], signal?: AbortSignal): Promise<string>;
  /** Has the next one fetched anew: for a token that the platform no longer takes. */
  forget(platform: TokenPlatform, scopes: readonly string[]): void;
}

/** A platform answered a request for a token with something else. */
export class ServiceTokenError extends Error {
  override readonly name = 'ServiceTokenError';
  /** Of the HTTP answer; 200 where there is no token in it. */
  readonly status: number;
  /** The beginning of the answer. */
  readonly body: string;
  /** The header Retry-After. */
  readonly retryAfter: string | null;

  constructor(status: number, body: string, retryAfter: string | null) {
    const what = status === 200 ? 'without a token' : `with ${status}`;
    super(`The platform answered ${what} when it was asked for a token`);
    this.status = status;
    this.body = body.slice(0, mostBodyCharacters);
    this.retryAfter = retryAfter;
  }
}

interface Needs {
  client: PlatformClient;
  keys: LtiKeys;
}

/** A token that is asked for, or is there: `until` in milliseconds, 0 as long as it has not come. */
interface Held {
  token: Promise<string>;
  until: number;
}

/** @param now a test's clock, in milliseconds. */
export function createServiceTokens(needs: Needs, now: () => number = Date.now): ServiceTokens {
  const tokens = new LRUCache<string, Held>({ max: mostTokens });
  return {
    async get(platform, scopes, signal) {
      signal?.throwIfAborted();
      const key = keyOf(platform, scopes);
      const held = tokens.get(key);
      if (held !== undefined && (held.until === 0 || now() < held.until)) return waited(held.token, signal);
      const begun = now();
      const fetched = fetchToken(needs, platform, scopes, begun);
      const fresh: Held = { token: fetched.then(({ token }) => token), until: 0 };
      tokens.set(key, fresh);
      fetched.then(
        ({ seconds }) => (fresh.until = begun + seconds * 1000),
        () => tokens.peek(key) === fresh && tokens.delete(key),
      );
      return waited(fresh.token, signal);
    },
    forget(platform, scopes) {
      const key = keyOf(platform, scopes);
      // One that is only just asked for is not the one that was refused.
      if (tokens.peek(key)?.until !== 0) tokens.delete(key);
    },
  };
}

/** What a platform was registered as may change; its tokens are then others. */
function keyOf({ _id, clientId, tokenUrl }: TokenPlatform, scopes: readonly string[]): string {
  return JSON.stringify([_id, clientId, tokenUrl, ...[...new Set(scopes)].sort()]);
}

const answerSchema = z.object({
  access_token: z.string().min(1),
  expires_in: z.coerce.number().min(0).optional().catch(undefined),
});

/** @returns the token, and how many seconds from `begun` it may be used. */
async function fetchToken(
  { client, keys }: Needs,
  platform: TokenPlatform,
  scopes: readonly string[],
  begun: number,
): Promise<{ token: string; seconds: number }> {
  const form = new URLSearchParams({
    grant_type: 'client_credentials',
    client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    client_assertion: await signAssertion(keys, platform, Math.floor(begun / 1000)),
    scope: [...new Set(scopes)].sort().join(' '),
  });
  const answer = await client.request(platform.tokenUrl, {
    method: 'POST',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded', Accept: 'application/json' },
    body: form.toString(),
  });
  const parsed = answerSchema.safeParse(responseJson(answer));
  if (answer.status < 200 || answer.status > 299 || !parsed.success) {
    const status = answer.status < 300 ? 200 : answer.status;
    throw new ServiceTokenError(status, answer.text, answer.headers.get('retry-after'));
  }
  const { access_token: token, expires_in: expiresIn } = parsed.data;
  const seconds = expiresIn === undefined ? unknownSeconds : Math.min(expiresIn, mostSeconds);
  // Of a token that lives shortly the margin must leave something.
  return { token, seconds: Math.max(seconds - marginSeconds, seconds / 2) };
}

async function signAssertion(
  keys: LtiKeys,
  { clientId, tokenUrl, tokenAudience }: TokenPlatform,
  seconds: number,
): Promise<string> {
  const { kid, privateKey } = await keys.signer();
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

/** The work's result, unless the signal is aborted before; the work goes on for the others. */
function waited<T>(work: Promise<T>, signal?: AbortSignal): Promise<T> {
  if (signal === undefined) return work;
  return new Promise<T>((resolve, reject) => {
    const stopListening = onAbort(signal, () => reject(signal.reason as Error));
    work.then(resolve, reject).finally(stopListening);
  });
}
