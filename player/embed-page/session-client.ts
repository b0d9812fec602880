import { parseRetryAfter } from '../../shared/platform/backoff.ts';
import type { Learner, LessonBoot } from './boot.ts';
import type { WriteBody } from './facts.ts';
import { readRecord } from './session-record.ts';
import type { JsonObject, SessionRecord } from './session-record.ts';
import { abortAfter } from '../older-browsers.ts';

/** The outcome of a write's request. */
export type WriteResponse =
  /** @param record the merged record */
  | { kind: 'saved'; record: SessionRecord }
  | { kind: 'erased' | 'expired' | 'gone' | 'refused' }
  /** @param retryAfterMs the delay in the server's Retry-After header, or 0 */
  | { kind: 'failed'; retryAfterMs: number };

/** The endpoints that the embed page calls with the learner's token. */
export interface SessionClient {
  /** Sends a write. Never rejects. */
  send(this: void, body: WriteBody): Promise<WriteResponse>;
  /** Returns a token's session, or the response's status on failure; 0 without a response. */
  open(this: void, token: string): Promise<(SessionRecord & Learner) | number>;
  /** Returns a new URL for media and widgets; undefined if the request failed. */
  content(this: void): Promise<LessonBoot['content'] | undefined>;
  /** Returns the Unix time in milliseconds, by the server's clock as far as this page knows it. */
  now(this: void): number;
}

const timeoutMs = 20_000;
/** Browsers send at most 64 KiB for a closed page, over all of its requests. */
const maxKeepaliveBytes = 60 * 1024;

/** @param token returns the current token */
export function sessionClient(
  boot: Pick<LessonBoot, 'now' | 'sessionUrl' | 'contentUrl' | 'versionId'>,
  token: () => string,
): SessionClient {
  let clockOffsetMs = Date.parse(boot.now) - Date.now();
  let keepaliveBytes = 0;

  async function ask(url: string, query: Record<string, string>, init: RequestInit = {}): Promise<Response> {
    const requested = `${url}?${new URLSearchParams(query).toString()}`;
    // The token is the only credential: the page sends neither cookies nor a referrer.
    const fixed: RequestInit = { credentials: 'omit', cache: 'no-store', referrerPolicy: 'no-referrer' };
    const response = await fetch(requested, { ...fixed, ...init, signal: abortAfter(timeoutMs) });
    const date = Date.parse(response.headers.get('Date') ?? '');
    // The header has whole seconds.
    if (Math.abs(date - Date.now() - clockOffsetMs) > 2000) clockOffsetMs = date - Date.now();
    return response;
  }

  async function post(used: string, body: string): Promise<Response> {
    const { length } = new TextEncoder().encode(body);
    const keepalive = keepaliveBytes + length <= maxKeepaliveBytes;
    if (keepalive) keepaliveBytes += length;
    try {
      const headers = { 'Content-Type': 'application/json' };
      return await ask(boot.sessionUrl, { token: used }, { method: 'POST', headers, body, keepalive });
    } finally {
      if (keepalive) keepaliveBytes -= length;
    }
  }

  return {
    now: () => Date.now() + clockOffsetMs,
    async send(body) {
      const failed: WriteResponse = { kind: 'failed', retryAfterMs: 0 };
      const used = token();
      try {
        const response = await readResponse(await post(used, JSON.stringify(body)));
        // Another token may have arrived while the server rejected this one.
        return response.kind === 'expired' && token() !== used ? failed : response;
      } catch {
        return failed;
      }
    },
    async open(otherToken) {
      try {
        const response = await ask(boot.sessionUrl, { token: otherToken });
        const record = response.ok ? readRecord(await response.json()) : undefined;
        return record ?? response.status;
      } catch {
        return 0;
      }
    },
    async content() {
      try {
        const response = await ask(boot.contentUrl, { token: token(), versionId: boot.versionId });
        const given = (await response.json()) as Partial<LessonBoot['content']>;
        const { base, expiresAt, chunksUrl } = given;
        return [base, expiresAt, chunksUrl].every((value) => typeof value === 'string')
          ? (given as LessonBoot['content'])
          : undefined;
      } catch {
        return undefined;
      }
    },
  };
}

/** Reads a response to a write. A response from elsewhere, such as a captive portal, counts as a failure. */
async function readResponse(response: Response): Promise<WriteResponse> {
  const retryAfterMs = parseRetryAfter(response.headers.get('Retry-After')) ?? 0;
  const failed: WriteResponse = { kind: 'failed', retryAfterMs };
  const body = (await response.json()) as JsonObject | null;
  const record = response.status === 200 ? readRecord(body) : undefined;
  if (record) return { kind: 'saved', record };
  if (typeof body?.error !== 'string') return failed;
  switch (response.status) {
    case 401:
      return { kind: 'expired' };
    case 403:
    case 404:
      return { kind: 'gone' };
    case 410:
      return { kind: 'erased' };
    case 400:
    case 413:
    case 422:
      // During an update, an older server may respond, which does not know a field yet.
      return body.error.includes(' has an unknown field ') ? failed : { kind: 'refused' };
    default:
      return failed;
  }
}
