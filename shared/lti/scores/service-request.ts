import { PlatformRequestError } from '../platform-requests.ts';
import type { PlatformAnswer, PlatformClient, PlatformRequest } from '../platform-requests.ts';
import { ServiceTokenError } from '../service-token.ts';
import type { ServiceTokens, TokenPlatform } from '../service-token.ts';

const mostBodyCharacters = 2000;

/** What a platform may be asked with. */
export interface GradeService {
  client: PlatformClient;
  tokens: ServiceTokens;
}

/** What kept a score from being sent, as operators see it. */
export type ScoreFaultReason =
  | 'timeout'
  | 'network'
  | 'blocked_address'
  | 'unavailable'
  | 'conflict'
  | 'refused'
  | 'token_refused'
  | 'line_item_gone'
  | 'no_line_item'
  | 'link_removed'
  | 'platform_removed'
  | 'internal_error';

/** Whether it may pass: never; for a while, so that a restart on either side does no harm; or after a long time. */
export type Patience = 'none' | 'short' | 'long';

/** A score could not be sent. */
export class ScoreFault extends Error {
  override readonly name = 'ScoreFault';
  readonly reason: ScoreFaultReason;
  readonly patience: Patience;
  /** Of the platform's answer; null where there was none. */
  readonly status: number | null;
  /** The beginning of the answer. */
  readonly body: string | null;
  /** How long the platform asks to be left alone, in milliseconds; null when it says nothing of it. */
  readonly retryAfter: number | null;
  /** Whether other scores would meet the same now. */
  readonly ofPlatform: boolean;

  constructor(
    reason: ScoreFaultReason,
    patience: Patience,
    message: string,
    answer: { status?: number; body?: string; retryAfter?: string | null; ofPlatform?: boolean } = {},
  ) {
    super(message);
    this.reason = reason;
    this.patience = patience;
    this.status = answer.status ?? null;
    this.body = answer.body === undefined ? null : answer.body.slice(0, mostBodyCharacters);
    this.retryAfter = millisecondsOf(answer.retryAfter ?? null);
    this.ofPlatform = answer.ofPlatform ?? false;
  }
}

/**
 * Sends one request with a token for the scopes; once more with a new token where the platform does not take it.
 *
 * @returns an answer whose status is 2xx.
 * @throws {ScoreFault} for anything else; the signal's reason.
 */
export async function askGradeService(
  { client, tokens }: GradeService,
  platform: TokenPlatform,
  scopes: readonly string[],
  { url, signal, ...request }: PlatformRequest & { url: string; signal: AbortSignal },
): Promise<PlatformAnswer> {
  const ask = async () => {
    const headers = {
      ...request.headers,
      Authorization: `Bearer ${await tokens.get(platform, scopes, signal)}`,
    };
    return client.request(url, { ...request, headers, signal });
  };
  try {
    let answer = await ask();
    if (answer.status === 401) {
      tokens.forget(platform, scopes);
      answer = await ask();
    }
    if (answer.status >= 200 && answer.status < 300) return answer;
    throw faultOfAnswer(answer);
  } catch (error) {
    throw explain(error);
  }
}

/** The beginning of an answer, for those who look into what went wrong. */
export function beginningOf({ text }: PlatformAnswer): string {
  return text.slice(0, mostBodyCharacters);
}

function explain(error: unknown): unknown {
  if (error instanceof PlatformRequestError) {
    if (error.reason === 'blocked_address') return new ScoreFault('blocked_address', 'none', error.message);
    const reason = error.reason === 'timeout' ? 'timeout' : 'network';
    return new ScoreFault(reason, 'long', error.message, { ofPlatform: true });
  }
  if (error instanceof ServiceTokenError) {
    const { status, body, retryAfter, message } = error;
    const details = { status, body, retryAfter, ofPlatform: true };
    if (isPassing(status, body)) return new ScoreFault('unavailable', 'long', message, details);
    // The platform may just not have reached Lectern's keys.
    return new ScoreFault('token_refused', 'short', message, details);
  }
  return error;
}

function faultOfAnswer({ status, text, headers }: PlatformAnswer): ScoreFault {
  const details = { status, body: text, retryAfter: headers.get('retry-after') };
  const message = `The platform answered with ${status}`;
  if (isPassing(status, text)) {
    return new ScoreFault('unavailable', 'long', message, { ...details, ofPlatform: true });
  }
  // It has a later timestamp, or one of the same second: time mends it.
  if (status === 409) return new ScoreFault('conflict', 'long', message, details);
  return new ScoreFault('refused', 'none', message, details);
}

/** Canvas refuses with 403 who asks too often; its newer releases with 429. */
function isPassing(status: number, body: string): boolean {
  if (status === 403) return /rate limit exceeded/i.test(body);
  return status >= 500 || status === 408 || status === 425 || status === 429;
}

/** Reads Retry-After: seconds, or a date. */
function millisecondsOf(retryAfter: string | null): number | null {
  if (retryAfter === null) return null;
  if (/^\d+$/.test(retryAfter.trim())) return Number(retryAfter) * 1000;
  const date = Date.parse(retryAfter);
  return Number.isNaN(date) ? null : Math.max(0, date - Date.now());
}
