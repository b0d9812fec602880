import { setImmediate as turnEnd } from 'node:timers/promises';
import { hostOf } from '../../platform/http/ssrf-guard.ts';
import type { Connections } from '../../platform/http/connections.ts';
import { release } from '../../platform/http/request.ts';
import type { OutboundResponse } from '../../platform/http/request.ts';
import { Body } from './body.ts';
import { concreteType } from './content-types.ts';
import { DownloadError, reasonOfStatus } from './failure.ts';
import type { FailureReason } from './failure.ts';
import { get } from './request.ts';
import { parseRetryAfter } from '../../platform/backoff.ts';
import type { DownloadSlots } from './slots.ts';
import type { DownloadRequest, DownloadResult } from './types.ts';
import { IdleTimeout } from './idle-timeout.ts';
import { parseUrl } from '../../platform/parse-url.ts';

const maxRedirects = 5;
const redirects = new Set([301, 302, 303, 307, 308]);
const gzipNames = new Set(['gzip', 'x-gzip']);

/** Statuses and failures that show an overloaded host. */
const overloadStatuses = new Set([429, 500, 502, 503, 504]);
const overloadReasons = new Set<FailureReason>(['timeout', 'network', 'truncated']);

export interface AttemptContext {
  connections: Connections;
  slots: DownloadSlots;
  idleMs: number;
  minBytesPerSecond: number;
  /** The remaining time for this file's origins; each attempt reduces it. */
  budget: { leftMs: number };
  /** Whether this is a retry, which uses a new connection, because the open one may have caused the failure. */
  isRetry: boolean;
}

type StoreBody<T> = (body: AsyncIterable<Uint8Array>) => Promise<T>;

/** Makes one attempt to fetch a file, following redirects. Holds slots only while it waits for their host. */
export async function attempt<T>(
  request: DownloadRequest,
  store: StoreBody<T>,
  { connections, slots, isRetry, budget, ...limits }: AttemptContext,
): Promise<DownloadResult<T>> {
  const first = requireUrl(request.url);
  let url = first;
  for (let hops = 0; ; hops++) {
    const current = url;
    // A validator is valid only for the server that issued it.
    const isSameOrigin = current.origin === first.origin;
    const owner = {
      host: hostOf(current),
      organizationId: request.organizationId,
      newConnection: isRetry || current.protocol === 'http:',
    };
    const outcome = await slots.run(owner, request.signal, async (host) => {
      request.beforeRequest?.();
      const started = performance.now();
      const idleTimeout = new IdleTimeout(request.signal, {
        ...limits,
        host: hostOf(current),
        deadlineMs: budget.leftMs,
      });
      try {
        const headers = isSameOrigin ? conditionalHeaders(request) : {};
        const response = await get(
          current,
          { connections, useNewConnection: isRetry },
          headers,
          idleTimeout.signal,
        );
        if (overloadStatuses.has(response.status)) host.overloaded();
        else host.responded();
        try {
          if (redirects.has(response.status)) return nextUrl(response, current);
          if (response.status === 304 && Object.keys(headers).length > 0) return { modified: false } as const;
          const stored = await receive(response, hostOf(current), request, store, idleTimeout);
          return { modified: true, ...stored, ...(isSameOrigin && validatorsOf(response)) } as const;
        } finally {
          release(response);
          // undici reuses a connection one turn of the event loop after its response.
          await turnEnd();
        }
      } catch (error) {
        if (error instanceof DownloadError && overloadReasons.has(error.reason)) host.overloaded();
        throw error;
      } finally {
        idleTimeout.close();
        budget.leftMs = Math.max(0, budget.leftMs - (performance.now() - started));
      }
    });
    if (!(outcome instanceof URL)) return outcome;
    if (hops === maxRedirects) {
      throw new DownloadError(
        'too_many_redirects',
        `${hostOf(first)} redirected more than ${maxRedirects} times`,
      );
    }
    url = outcome;
  }
}

/** Checks a response, then stores its body. */
async function receive<T>(
  response: OutboundResponse,
  host: string,
  { mimeType, maxBytes, onBytes, organizationId }: DownloadRequest,
  store: StoreBody<T>,
  idleTimeout: IdleTimeout,
): Promise<{ stored: T; mimeType: string }> {
  const { status, length } = response;
  if (status !== 200 && status !== 203) {
    const retryAfterMs = parseRetryAfter(response.header('retry-after'));
    throw new DownloadError(reasonOfStatus(status), `${host} returned ${status}`, {
      status,
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    });
  }
  const sentType = concreteType(response.header('content-type'));
  const coding = response.header('content-encoding')?.trim().toLowerCase() ?? 'identity';
  const gzip = gzipNames.has(coding);
  if (!gzip && coding !== 'identity') {
    throw new DownloadError('bad_type', `${host} sends the file encoded (${coding})`, { status });
  }
  if (length !== null && length > maxBytes) {
    throw new DownloadError('too_large', `${host} has ${length} bytes; at most ${maxBytes} are allowed`, {
      status,
    });
  }
  idleTimeout.resume();
  const body = new Body(
    response.body,
    { host, maxBytes, length, gzip, mimeType, sentType, onBytes, organizationId },
    idleTimeout,
  );
  let stored: T;
  try {
    stored = await store(body);
  } catch (error) {
    // The store's error may only repeat the failure of its source.
    throw body.failure ?? error;
  }
  if (!body.complete) throw body.failure ?? new Error('The store did not read the file to its end');
  return { stored, mimeType: body.mimeType };
}

/** Returns the headers with which the origin may return 304. */
function conditionalHeaders({ validators }: DownloadRequest): Record<string, string> {
  return {
    ...(validators?.etag !== undefined && { 'If-None-Match': validators.etag }),
    ...(validators?.lastModified !== undefined && { 'If-Modified-Since': validators.lastModified }),
  };
}

function validatorsOf(response: OutboundResponse): { etag?: string; lastModified?: string } {
  const etag = response.header('etag');
  const lastModified = response.header('last-modified');
  return { ...(etag !== null && { etag }), ...(lastModified !== null && { lastModified }) };
}

function nextUrl(response: OutboundResponse, base: URL): URL {
  const location = response.header('location');
  // Node reads headers as Latin-1, but non-ASCII Locations are UTF-8 in practice.
  const text = location === null ? null : Buffer.from(location, 'latin1').toString();
  const url = text === null ? null : parseUrl(text, base);
  if (url === null) {
    throw new DownloadError('server_error', `${hostOf(base)} redirected without a valid Location`, {
      status: response.status,
    });
  }
  return url;
}

function requireUrl(text: string): URL {
  const url = parseUrl(text);
  if (url === null) throw new DownloadError('blocked_address', 'This is not a URL');
  return url;
}
