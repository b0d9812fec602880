import { DeliveryFault } from '../../deliveries/delivery-fault.ts';
import type { FaultKind } from '../../deliveries/delivery-fault.ts';
import { isWebPage } from '../../platform/http/web-page.ts';
import { PlatformRequestError } from '../platform-requests.ts';
import type { PlatformResponse, PlatformClient, PlatformRequest } from '../platform-requests.ts';
import { ServiceTokenError } from '../service-token.ts';
import type { ServiceTokens, TokenPlatform } from '../service-token.ts';
import { isSuccess } from '../../platform/http/request.ts';

export interface GradeService {
  client: PlatformClient;
  tokens: ServiceTokens;
}

/** Why a score was not sent, as operators see it. The retry policy depends on the reason alone. */
const faults = {
  timeout: { retry: 'week', target: 'failing' },
  network: { retry: 'week', target: 'failing' },
  blocked_address: { retry: 'never', target: 'unknown' },
  unavailable: { retry: 'week', target: 'failing' },
  // The platform has a score with a later timestamp, or with one of the same second. A retry succeeds.
  conflict: { retry: 'week', target: 'healthy' },
  refused: { retry: 'never', target: 'healthy' },
  // The platform may have failed to fetch Lectern's keys.
  token_refused: { retry: 'quarterHour', target: 'failing' },
  // Another server answers, perhaps only for a while.
  web_page: { retry: 'week', target: 'failing' },
  unreadable_answer: { retry: 'quarterHour', target: 'unknown' },
  line_item_gone: { retry: 'week', target: 'healthy' },
  no_line_item: { retry: 'moot', target: 'unknown' },
  link_removed: { retry: 'moot', target: 'unknown' },
  platform_removed: { retry: 'moot', target: 'unknown' },
  internal_error: { retry: 'week', target: 'unknown' },
} as const satisfies Record<string, FaultKind>;

export type ScoreFaultReason = keyof typeof faults;

/** A score could not be sent. */
export class ScoreFault extends DeliveryFault<ScoreFaultReason> {
  override readonly name = 'ScoreFault';

  constructor(
    reason: ScoreFaultReason,
    message: string,
    response: { status?: number; body?: string; retryAfter?: string | null } = {},
  ) {
    super(reason, faults[reason], message, response);
  }
}

/**
 * Sends a request with a token for the scopes. After a 401 it retries once with a new token. After a 403 the next
 * request fetches a new token, which includes permissions granted in the meantime.
 *
 * @returns a response with a 2xx status.
 * @throws {ScoreFault} for any other; the signal's reason.
 */
export async function callGradeService(
  { client, tokens }: GradeService,
  platform: TokenPlatform,
  scopes: readonly string[],
  { url, signal, ...request }: PlatformRequest & { url: string; signal: AbortSignal },
): Promise<PlatformResponse> {
  const attempt = async () => {
    const headers = {
      ...request.headers,
      Authorization: `Bearer ${await tokens.get(platform, scopes, signal)}`,
    };
    return client.request(url, { ...request, headers, signal });
  };
  try {
    let response = await attempt();
    if (response.status === 401) {
      tokens.forget(platform, scopes);
      response = await attempt();
    }
    if (response.status === 403 && !isTemporary(response)) tokens.forget(platform, scopes);
    if (isSuccess(response.status)) return response;
    throw faultOfResponse(response);
  } catch (error) {
    throw toScoreFault(error);
  }
}

function toScoreFault(error: unknown): unknown {
  if (error instanceof PlatformRequestError) {
    const { reason, message } = error;
    const isOwn = reason === 'blocked_address' || reason === 'timeout';
    return new ScoreFault(isOwn ? reason : 'network', message);
  }
  if (error instanceof ServiceTokenError) {
    const { status, body, retryAfter, message, hasPage } = error;
    const refusal = hasPage ? 'web_page' : 'token_refused';
    const reason = isTemporary({ status, text: body }) ? 'unavailable' : refusal;
    return new ScoreFault(reason, message, { status, body, retryAfter });
  }
  return error;
}

/** Returns the fault of a success that is not what a service returns. @param wanted such as `a line item` */
export function unreadable({ status, text: body, headers }: PlatformResponse, wanted: string): ScoreFault {
  const isPage = isWebPage({ contentType: headers.get('content-type'), text: body });
  return isPage
    ? new ScoreFault('web_page', `The platform returned a web page, not ${wanted}`, { status, body })
    : new ScoreFault('unreadable_answer', `The response of the platform is not ${wanted}`, { status, body });
}

function faultOfResponse(response: PlatformResponse): ScoreFault {
  const { status, text, headers } = response;
  const reason = isTemporary(response) ? 'unavailable' : status === 409 ? 'conflict' : 'refused';
  const details = { status, body: text, retryAfter: headers.get('retry-after') };
  return new ScoreFault(reason, `The platform returned ${status}`, details);
}

/** Whether a retry may succeed. Over its rate limit, Canvas returns 403, and newer releases 429. */
function isTemporary({ status, text }: Pick<PlatformResponse, 'status' | 'text'>): boolean {
  if (status === 403) return /rate limit exceeded/i.test(text);
  // Services do not redirect, but a proxy in front of them does, to its maintenance page.
  if (status >= 300 && status < 400) return true;
  return status >= 500 || status === 408 || status === 425 || status === 429;
}
