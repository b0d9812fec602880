import { setImmediate as turnEnd } from 'node:timers/promises';
import { OutboundError } from '../../platform/errors.ts';
import { hostOf } from '../../platform/http/ssrf-guard.ts';
import type { Connections } from '../../platform/http/connections.ts';
import { release, send } from '../../platform/http/request.ts';
import type { OutboundResponse } from '../../platform/http/request.ts';
import { parseRetryAfter } from '../../platform/backoff.ts';
import { parseUrl } from '../../platform/parse-url.ts';
import { concreteType } from '../content-types.ts';
import { Body } from './body.ts';
import { DownloadError, reasonOfStatus } from './failure.ts';
import { IdleTimeout } from './idle-timeout.ts';
import type { DownloadRequest, DownloadResult } from './types.ts';

const maxRedirects = 5;
const redirects = new Set([301, 302, 303, 307, 308]);
const gzipNames = new Set(['gzip', 'x-gzip']);

export interface AttemptContext {
  connections: Connections;
  idleMs: number;
  minBytesPerSecond: number;
  /** The remaining time for this file's origins; each attempt reduces it. */
  budget: { leftMs: number };
}

type StoreBody<T> = (body: AsyncIterable<Uint8Array>) => Promise<T>;

/** Makes one attempt to fetch a file, following redirects. */
export async function attempt<T>(
  request: DownloadRequest,
  store: StoreBody<T>,
  context: AttemptContext,
): Promise<DownloadResult<T>> {
  const first = requireUrl(request.url);
  let url = first;
  for (let hops = 0; hops <= maxRedirects; hops++) {
    // A validator is valid only for the server that issued it.
    const headers = url.origin === first.origin ? conditionalHeaders(request) : {};
    const outcome = await fetchOnce(url, headers, { request, store, context });
    if (outcome instanceof URL) {
      url = outcome;
      continue;
    }
    if (!outcome.modified || url.origin === first.origin) return outcome;
    const { stored, mimeType } = outcome;
    return { modified: true, stored, mimeType };
  }
  throw new DownloadError(
    'too_many_redirects',
    `${hostOf(first)} redirected more than ${maxRedirects} times`,
  );
}

/** Sends one request, and stores its response. Returns the next URL after a redirect. */
async function fetchOnce<T>(
  url: URL,
  headers: Record<string, string>,
  { request, store, context }: { request: DownloadRequest; store: StoreBody<T>; context: AttemptContext },
): Promise<DownloadResult<T> | URL> {
  // The caller may have stopped while the request waited, or was redirected.
  request.signal.throwIfAborted();
  request.beforeRequest?.();
  const { connections, budget, ...limits } = context;
  const host = hostOf(url);
  const idleTimeout = new IdleTimeout(request.signal, { ...limits, host, deadlineMs: budget.leftMs });
  const onSent = () => {
    request.beforeRequest?.();
    idleTimeout.start();
  };
  try {
    const { signal } = idleTimeout;
    const response = await send(url, { connections, owner: request.organizationId, headers, onSent, signal });
    try {
      if (redirects.has(response.status)) return nextUrl(response, url);
      if (response.status === 304 && Object.keys(headers).length > 0) return { modified: false };
      const stored = await receive(response, host, request, store, idleTimeout);
      return { modified: true, ...stored, ...validatorsOf(response) };
    } finally {
      release(response);
      // undici reuses a connection one turn of the event loop after its response.
      await turnEnd();
    }
  } catch (error) {
    if (error instanceof OutboundError) throw new DownloadError(error.reason, error.message);
    throw error;
  } finally {
    budget.leftMs = Math.max(0, budget.leftMs - idleTimeout.close());
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
