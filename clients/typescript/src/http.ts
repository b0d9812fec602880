import type { Routes } from './api.ts';
import { ConnectionError, errorOf, LecternError } from './errors.ts';
import type { LecternErrorDetails } from './errors.ts';

export interface LecternOptions {
  /** The URL of Lectern, such as `https://lessons.example.com`. It needs https, unless it is of this machine. */
  url: string;
  /** Allows an `http://` URL of another machine. Everyone on the way can then read the credentials. */
  allowHttp?: boolean;
  /** PUBLIC_KEY.SECRET_KEY. Keep them on your server. */
  credentials: string;
  /** How often the client retries a request after a temporary failure; 3 by default. */
  maxRetries?: number;
  /** How long one attempt may take; 30 seconds by default. Bodies of downloads may take longer while bytes arrive. */
  timeoutMs?: number;
  /** Replaces `fetch`. */
  fetch?: (url: string, init: RequestInit) => Promise<Response>;
}

export interface RequestOptions {
  /** Cancels the request. */
  signal?: AbortSignal;
  timeoutMs?: number;
  maxRetries?: number;
}

/** Options of requests that create something. */
export interface CreateOptions extends RequestOptions {
  /** Your idempotency key, for a request that you may repeat in another process. By default, a random one. */
  idempotencyKey?: string;
}

export type Route = keyof Routes;
export type Params<R extends Route> = Routes[R]['params'];
export type Query<R extends Route> = Routes[R]['query'];
export type Body<R extends Route> = Routes[R]['body'];
export type Result<R extends Route> = Routes[R]['result'];

/** What a request sends. */
export interface Parts {
  params?: Record<string, string>;
  query?: object | undefined;
  json?: unknown;
  bytes?: Blob;
  headers?: Record<string, string>;
  /** Whether a repetition has a second effect. */
  isOnce?: boolean;
}

const anyUrl = /^https?:\/\/[^/]/i;
/** Without TLS only to this machine. The host ends at `/`, `:`, or the end: `http://localhost.evil.example` is another. */
const safeUrl = /^(?:https:\/\/[^/]|http:\/\/(?:localhost|127(?:\.\d+){3}|\[::1\])(?::\d+)?(?:\/|$))/i;

const firstDelayMs = 500;
const maxDelayMs = 8_000;
/** After a longer `Retry-After`, the call throws at once. */
const maxRetryAfterSeconds = 60;
/** The abort reason of an attempt that takes too long. */
const tooLate = new Error('too late');

/** The parts of Web Crypto that the client uses. */
interface WebCrypto {
  randomUUID(): string;
  subtle: {
    importKey(...key: ['raw', Uint8Array, object, boolean, ['verify']]): Promise<unknown>;
    verify(...signed: ['HMAC', unknown, Uint8Array, Uint8Array]): Promise<boolean>;
  };
}

/** Returns Web Crypto, which is not a global in Node.js 18. */
export async function webCrypto(): Promise<WebCrypto> {
  const available = (globalThis as { crypto?: unknown }).crypto ?? (await import('node:crypto')).webcrypto;
  return available as WebCrypto;
}

/** Sends requests with credentials, timeouts and retries. */
export class Http {
  readonly #base: string;
  readonly #credentials: string;
  readonly #maxRetries: number;
  readonly #timeoutMs: number;
  readonly #fetch: NonNullable<LecternOptions['fetch']>;

  constructor({
    url,
    credentials,
    allowHttp = false,
    maxRetries = 3,
    timeoutMs = 30_000,
    fetch,
  }: LecternOptions) {
    if (!(allowHttp ? anyUrl : safeUrl).test(url)) {
      const hint = anyUrl.test(url) ? ' To send credentials over http, set allowHttp: true.' : '';
      throw new TypeError(`url is ${JSON.stringify(url)}, and must begin with https://.${hint}`);
    }
    if (!/^[\w-]+\.[\w-]+$/.test(credentials)) {
      throw new TypeError('credentials must have the form PUBLIC_KEY.SECRET_KEY');
    }
    this.#base = url.replace(/\/+$/, '');
    this.#credentials = credentials;
    this.#maxRetries = maxRetries;
    this.#timeoutMs = timeoutMs;
    this.#fetch = fetch ?? ((...request) => globalThis.fetch(...request));
  }

  /** Sends a request and returns its JSON; undefined for a response without a body. */
  json<R extends Route>(route: R, parts: Parts = {}, options?: RequestOptions): Promise<Result<R>> {
    return this.send(route, parts, options, async (response) => {
      const text = await response.text();
      return (text === '' ? undefined : JSON.parse(text)) as Result<R>;
    });
  }

  /** Sends a request that creates something: with an idempotency key, so that it may be repeated. */
  async create<R extends Route>(
    route: R,
    parts: Parts = {},
    options: CreateOptions = {},
  ): Promise<Result<R>> {
    return this.json(route, await withKey(parts, options), options);
  }

  /**
   * Sends a request whose repetition has a second effect. The client retries it only after 429, with which Lectern has
   * done nothing: without a response, it may have.
   */
  once<R extends Route>(route: R, parts: Parts, options?: RequestOptions): Promise<Result<R>> {
    return this.json(route, { ...parts, isOnce: true }, options);
  }

  /** Returns a response as soon as its headers have arrived. Read its body with {@link readChunks}. */
  open(route: Route, parts: Parts, options?: RequestOptions): Promise<Response> {
    return this.send(route, parts, options, (response) => Promise.resolve(response));
  }

  /**
   * Sends a request and retries it after temporary failures, with exponential backoff and jitter. All retries are safe:
   * reads change nothing, requests that create something have an idempotency key, and a second token does no harm.
   *
   * @param read reads the response within the timeout.
   */
  async send<T>(
    route: Route,
    parts: Parts,
    options: RequestOptions = {},
    read: (response: Response) => Promise<T>,
  ): Promise<T> {
    const { maxRetries = this.#maxRetries, signal } = options;
    const requestId = (await webCrypto()).randomUUID();
    const request = this.#requestOf(route, parts, requestId);
    for (let retry = 0; ; retry += 1) {
      try {
        return await this.#attempt(route, request, options, requestId, read);
      } catch (error) {
        const delayMs = retryDelayMs(error, retry);
        if (delayMs === null || retry >= maxRetries) throw error;
        if (parts.isOnce === true && (error as LecternError).status !== 429) throw error;
        await delay(delayMs, signal);
      }
    }
  }

  /** @throws {TypeError} if a path cannot have a param, or JSON cannot express the body. */
  #requestOf(route: Route, { params = {}, query = {}, json, bytes, headers }: Parts, requestId: string) {
    const [method, path] = route.split(' ') as [string, string];
    return {
      url: this.#base + fill(path, params) + searchOf(query),
      method,
      headers: {
        authorization: `Bearer ${this.#credentials}`,
        'x-request-id': requestId,
        ...(json !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      body: json === undefined ? (bytes ?? null) : JSON.stringify(json),
    };
  }

  async #attempt<T>(
    route: Route,
    { url, ...request }: { url: string; headers: Record<string, string> } & RequestInit,
    { signal, timeoutMs = this.#timeoutMs }: RequestOptions,
    requestId: string,
    read: (response: Response) => Promise<T>,
  ): Promise<T> {
    const controller = new AbortController();
    const abort = () => controller.abort();
    const timer = setTimeout(() => controller.abort(tooLate), timeoutMs);
    signal?.addEventListener('abort', abort);
    try {
      if (signal?.aborted === true) throw aborted({ requestId });
      const { signal: canceled } = controller;
      const first = await this.#fetch(url, { ...request, redirect: 'manual', signal: canceled });
      const response = await this.#follow(first, request.headers, canceled);
      if (!response.ok) {
        const id = response.headers.get('x-request-id') ?? requestId;
        const seconds = response.headers.get('retry-after');
        throw errorOf(response.status, response.headers.get('error-code'), await response.text(), {
          requestId: id,
          ...(seconds !== null && { retryAfterSeconds: Number(seconds) }),
        });
      }
      return await read(response);
    } catch (error) {
      if (error instanceof LecternError) throw error;
      if (signal?.aborted === true) throw aborted({ requestId, cause: error });
      const late = `${route} took longer than ${timeoutMs} ms`;
      throw controller.signal.reason === tooLate
        ? new ConnectionError('TIMEOUT', late, { requestId, cause: error })
        : new ConnectionError('CONNECTION_FAILED', `${route} got no response`, { requestId, cause: error });
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
    }
  }

  /**
   * Follows the redirect of an archive to a bucket, which gets no credentials. ETag and digest are those that Lectern
   * sent: the bucket has others.
   */
  async #follow(
    response: Response,
    { range, 'if-range': wanted }: Record<string, string>,
    signal: AbortSignal,
  ): Promise<Response> {
    const location = response.headers.get('location');
    const etag = response.headers.get('etag');
    if (response.status !== 302 || location === null) return response;
    // Part of another archive would not fit.
    const isPart = range !== undefined && (wanted === undefined || wanted === etag);
    const body = await this.#fetch(location, { signal, headers: isPart ? { range } : {} });
    const headers = new Headers(body.headers);
    for (const name of ['etag', 'repr-digest']) headers.set(name, response.headers.get(name) ?? '');
    return new Response(body.body, { status: body.status, headers });
  }
}

/** Adds an idempotency key to a request. */
export async function withKey(parts: Parts, { idempotencyKey }: CreateOptions): Promise<Parts> {
  const key = idempotencyKey ?? (await webCrypto()).randomUUID();
  return { ...parts, headers: { ...parts.headers, 'idempotency-key': key } };
}

/** Returns the delay before a retry; null if the failure is not temporary. @param retry counts from 0. */
export function retryDelayMs(error: unknown, retry: number): number | null {
  if (!(error instanceof LecternError) || error.code === 'ABORTED') return null;
  const { status = 0, retryAfterSeconds: seconds } = error;
  if (seconds !== undefined)
    return seconds <= maxRetryAfterSeconds ? seconds * 1000 + jitter(firstDelayMs) : null;
  const mayPass =
    (status === 0 && error instanceof ConnectionError) || status === 429 || [502, 503, 504].includes(status);
  return mayPass ? jitter(Math.min(maxDelayMs, firstDelayMs * 2 ** retry)) : null;
}

function jitter(ms: number): number {
  return ms / 2 + (Math.random() * ms) / 2;
}

/** Waits. @throws {ConnectionError} ABORTED */
export async function delay(ms: number, signal?: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener('abort', end);
    if (signal?.aborted === true) end();
  });
  if (signal?.aborted === true) throw aborted();
}

function aborted(details: LecternErrorDetails = {}): ConnectionError {
  return new ConnectionError('ABORTED', 'The request was aborted', details);
}

function fill(path: string, params: Record<string, string>): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = params[name] ?? '';
    // URL parsers would remove these from the path.
    if (/^\.{0,2}$/.test(value))
      throw new TypeError(`${name} is ${JSON.stringify(value)}, which a path cannot have`);
    return encodeURIComponent(value);
  });
}

function searchOf(query: object): string {
  const given = Object.entries(query as Record<string, unknown>).filter(([, value]) => value !== undefined);
  const search = new URLSearchParams(
    given.map(([name, value]): [string, string] => [name, String(value)]),
  ).toString();
  return search === '' ? '' : `?${search}`;
}

type Chunk = { done: false; value: Uint8Array } | { done: true; value: undefined };

/**
 * Yields the chunks of a body, and closes the connection when the caller stops.
 *
 * @throws {ConnectionError} if no byte arrives for `idleMs`, or the connection breaks.
 */
export async function* readChunks(
  { body }: Response,
  { idleMs = 60_000, signal }: { idleMs?: number; signal?: AbortSignal | undefined } = {},
): AsyncGenerator<Uint8Array> {
  if (body === null) return;
  const reader = body.getReader();
  const stop = () => void reader.cancel().catch(() => undefined);
  const idle = new AbortController();
  idle.signal.addEventListener('abort', stop);
  signal?.addEventListener('abort', stop);
  try {
    for (;;) {
      const timer = setTimeout(() => idle.abort(), idleMs);
      const { done, value } = (await reader.read().finally(() => clearTimeout(timer))) as Chunk;
      if (signal?.aborted === true) throw aborted();
      if (idle.signal.aborted) throw new ConnectionError('TIMEOUT', `No byte arrived for ${idleMs} ms`);
      if (done) return;
      yield value;
    }
  } catch (error) {
    if (error instanceof LecternError) throw error;
    throw new ConnectionError('CONNECTION_FAILED', 'The connection broke', { cause: error });
  } finally {
    signal?.removeEventListener('abort', stop);
    stop();
  }
}
