import { parseRetryAfter } from '../../platform/backoff.ts';
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

/**
 * Whether it may pass: never; for a while, so that a restart on either side does no harm; or after a long time. Moot is
 * what is no failure, as there is nowhere to send a score to.
 */
export type Patience = 'moot' | 'none' | 'short' | 'long';

/** What a try says of the platform: it answers, others would meet the same trouble now, or nothing. */
export type PlatformState = 'well' | 'trouble' | 'unknown';

/**
 * What may keep a score from being sent, as operators see it. How long that is put up with hangs on the reason alone:
 * the time for which a row has been failing counts from the first failure with the same reason.
 */
const faults = {
  timeout: { patience: 'long', platform: 'trouble' },
  network: { patience: 'long', platform: 'trouble' },
  blocked_address: { patience: 'none', platform: 'unknown' },
  unavailable: { patience: 'long', platform: 'trouble' },
  // It has a later timestamp, or one of the same second: time mends it.
  conflict: { patience: 'long', platform: 'well' },
  refused: { patience: 'none', platform: 'well' },
  // The platform may just not have reached Lectern's keys.
  token_refused: { patience: 'short', platform: 'trouble' },
  unreadable_answer: { patience: 'short', platform: 'unknown' },
  line_item_gone: { patience: 'long', platform: 'well' },
  no_line_item: { patience: 'moot', platform: 'unknown' },
  link_removed: { patience: 'moot', platform: 'unknown' },
  platform_removed: { patience: 'moot', platform: 'unknown' },
  internal_error: { patience: 'long', platform: 'unknown' },
} as const satisfies Record<string, { patience: Patience; platform: PlatformState }>;

export type ScoreFaultReason = keyof typeof faults;

/** A score could not be sent. */
export class ScoreFault extends Error {
  override readonly name = 'ScoreFault';
  readonly reason: ScoreFaultReason;
  /** Of the platform's answer; null where there was none. */
  readonly status: number | null;
  /** The beginning of the answer. */
  readonly body: string | null;
  /** How long the platform asks to be left alone, in milliseconds; null when it says nothing of it. */
  readonly retryAfter: number | null;

  constructor(
    reason: ScoreFaultReason,
    message: string,
    answer: { status?: number; body?: string; retryAfter?: string | null } = {},
  ) {
    super(message);
    this.reason = reason;
    this.status = answer.status ?? null;
    this.body = answer.body === undefined ? null : answer.body.slice(0, mostBodyCharacters);
    this.retryAfter = parseRetryAfter(answer.retryAfter ?? null) ?? null;
  }

  get patience(): Patience {
    return faults[this.reason].patience;
  }

  get platform(): PlatformState {
    return faults[this.reason].platform;
  }
}

/**
 * Sends one request with a token for the scopes; once more with a new token where the platform does not take it. One
 * that is forbidden something is not used again: who allows it to Lectern then is heard at the next try.
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
    if (answer.status === 403 && !isPassing(answer)) tokens.forget(platform, scopes);
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
    const { reason, message } = error;
    const isOwn = reason === 'blocked_address' || reason === 'timeout';
    return new ScoreFault(isOwn ? reason : 'network', message);
  }
  if (error instanceof ServiceTokenError) {
    const { status, body, retryAfter, message } = error;
    const reason = isPassing({ status, text: body }) ? 'unavailable' : 'token_refused';
    return new ScoreFault(reason, message, { status, body, retryAfter });
  }
  return error;
}

function faultOfAnswer(answer: PlatformAnswer): ScoreFault {
  const { status, text, headers } = answer;
  const reason = isPassing(answer) ? 'unavailable' : status === 409 ? 'conflict' : 'refused';
  const details = { status, body: text, retryAfter: headers.get('retry-after') };
  return new ScoreFault(reason, `The platform answered with ${status}`, details);
}

/** Canvas refuses with 403 who asks too often; its newer releases with 429. */
function isPassing({ status, text }: Pick<PlatformAnswer, 'status' | 'text'>): boolean {
  if (status === 403) return /rate limit exceeded/i.test(text);
  // Services do not redirect; what stands before them does, to its page of maintenance.
  if (status >= 300 && status < 400) return true;
  return status >= 500 || status === 408 || status === 425 || status === 429;
}
