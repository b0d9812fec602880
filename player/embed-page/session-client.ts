import type { Learner, LessonBoot } from './boot.ts';
import type { WriteBody } from './queued-write.ts';
import type { Answer } from './save-queue.ts';
import { readRecord } from './session-record.ts';
import type { JsonObject, SessionRecord } from './session-record.ts';

/** The addresses that a player's token opens, as seen from the embed page. */
export interface SessionClient {
  /** Sends a write. Never rejects. */
  send(this: void, body: WriteBody): Promise<Answer>;
  /** The session that a token opens; the status of the answer, or 0, when it opens none. */
  open(this: void, token: string): Promise<(SessionRecord & Learner) | number>;
  /** The address of media and widgets anew; undefined when it is not to be had now. */
  content(this: void): Promise<LessonBoot['content'] | undefined>;
  /** Unix time in milliseconds, by the server's clock as far as it is known. */
  now(this: void): number;
}

/** Milliseconds after which a request counts as lost. */
const patience = 20_000;
/** Bytes that browsers send for a page that is gone are 64 KiB, over all of its requests. */
const keepaliveBytes = 60 * 1024;

/** @param token gives the present one at each request */
export function sessionClient(
  boot: Pick<LessonBoot, 'now' | 'sessionUrl' | 'contentUrl' | 'versionId'>,
  token: () => string,
): SessionClient {
  let ahead = Date.parse(boot.now) - Date.now();
  let keptAlive = 0;

  async function ask(url: string, query: Record<string, string>, init: RequestInit = {}): Promise<Response> {
    const address = `${url}?${new URLSearchParams(query).toString()}`;
    // The token is all that counts: neither a cookie nor a referrer goes along.
    const fixed: RequestInit = { credentials: 'omit', cache: 'no-store', referrerPolicy: 'no-referrer' };
    const response = await fetch(address, { ...fixed, ...init, signal: AbortSignal.timeout(patience) });
    const date = Date.parse(response.headers.get('Date') ?? '');
    // A header has whole seconds; less than that is no news.
    if (Math.abs(date - Date.now() - ahead) > 2000) ahead = date - Date.now();
    return response;
  }

  async function post(body: string): Promise<Response> {
    const used = token();
    const response = await postWith(used, body);
    // Another token came while this one was being refused.
    return response.status === 401 && token() !== used ? postWith(token(), body) : response;
  }

  async function postWith(used: string, body: string): Promise<Response> {
    const { length } = new TextEncoder().encode(body);
    const keepalive = keptAlive + length <= keepaliveBytes;
    if (keepalive) keptAlive += length;
    try {
      const headers = { 'Content-Type': 'application/json' };
      return await ask(boot.sessionUrl, { token: used }, { method: 'POST', headers, body, keepalive });
    } finally {
      if (keepalive) keptAlive -= length;
    }
  }

  return {
    now: () => Date.now() + ahead,
    async send(body) {
      try {
        return await readAnswer(await post(JSON.stringify(body)));
      } catch {
        return { kind: 'failed', retryAfter: 0 };
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
        const { base, expiresAt } = (await response.json()) as Partial<LessonBoot['content']>;
        return typeof base === 'string' && typeof expiresAt === 'string' ? { base, expiresAt } : undefined;
      } catch {
        return undefined;
      }
    },
  };
}

/** An answer that is not Lectern's, as of a captive network, counts as a failure. */
async function readAnswer(response: Response): Promise<Answer> {
  const failed: Answer = { kind: 'failed', retryAfter: pauseOf(response.headers.get('Retry-After')) };
  const body = (await response.json()) as JsonObject | null;
  const record = readRecord(response.status === 409 ? body?.current : body);
  switch (response.status) {
    case 200:
      return record ? { kind: 'saved', record } : failed;
    case 409:
      return record ? { kind: 'conflict', record } : failed;
  }
  if (typeof body?.error !== 'string') return failed;
  switch (response.status) {
    case 401:
      return { kind: 'expired' };
    case 403:
    case 404:
      return { kind: 'gone' };
    case 400:
    case 413:
    case 422:
      // While servers are updated an older one may answer, which does not know a field yet.
      return body.error.includes(' has an unknown field ') ? failed : { kind: 'refused' };
    default:
      return failed;
  }
}

/** Milliseconds that Retry-After asks for: it holds seconds or a date. */
function pauseOf(header: string | null): number {
  if (header === null) return 0;
  const seconds = /^\d+$/.test(header) ? Number(header) : (Date.parse(header) - Date.now()) / 1000;
  return Number.isFinite(seconds) ? Math.max(0, seconds * 1000) : 0;
}
