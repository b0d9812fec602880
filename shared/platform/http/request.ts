import { Readable, pipeline } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { Dispatcher } from 'undici';
import { onAbort } from '../abort-listeners.ts';
import { faultCode, OutboundError } from '../errors.ts';
import type { Connections } from './connections.ts';
import { hostOf, notPublicCode } from './ssrf-guard.ts';

/** An unwanted rest of a response is drained to keep the connection, if it is no larger and takes no longer. */
const maxDrainBytes = 16 * 1024;
const maxDrainMs = 1000;

/** The bytes of a body that wait for their reader. */
const bodyBufferBytes = 64 * 1024;

/** A response whose headers have arrived, and whose body may not have. */
export interface OutboundResponse {
  status: number;
  header(name: string): string | null;
  /** The Content-Length; null without one. */
  length: number | null;
  body: Readable;
}

export interface OutboundRequest {
  connections: Connections;
  /** Whose kept connections it uses; null for a new one, which ends with the response. */
  owner: string | null;
  headers: Record<string, string>;
  method?: 'GET' | 'POST' | 'PUT';
  body?: string;
  /** Decompresses a body that the server compressed without being asked; otherwise it stays compressed. */
  unpack?: boolean;
  /** Called when the request no longer waits for a connection. An error that it throws ends the request. */
  onSent?: () => void;
  signal: AbortSignal;
}

const defaultHeaders = { accept: '*/*', 'user-agent': 'Lectern', 'accept-encoding': 'identity' };

/** Returns whether a status is one of success. */
export function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

/** Names of headers ignore case: `Accept` replaces `accept`. */
function withLowerCaseNames(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

/** Sends a request; follows no redirects. @throws {OutboundError} or the reason of the signal, or the error of `onSent`. */
export async function send(url: URL, request: OutboundRequest): Promise<OutboundResponse> {
  const { connections, owner, headers, unpack = false, method = 'GET', body, onSent, signal } = request;
  signal.throwIfAborted();
  const exchange = new Exchange(signal, onSent);
  const options: Dispatcher.DispatchOptions = {
    origin: url.origin,
    path: url.pathname + url.search,
    method,
    headers: { ...defaultHeaders, ...withLowerCaseNames(headers) },
    ...(body !== undefined && { body }),
  };
  const dispatch = (dispatcher: Dispatcher) => exchange.run(dispatcher, options);
  try {
    if (owner === null) await connections.sendOnce(url, dispatch);
    else await connections.sendKept(url, owner, dispatch, signal);
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (error instanceof OutboundError || error === exchange.rejection) throw error;
    throw explain(hostOf(url), faultCode(error));
  }
  return exchange.response(unpack);
}

/** One request and its response: the handler that undici calls. */
class Exchange implements Dispatcher.DispatchHandler {
  /** The error of `onSent`. */
  rejection: unknown;
  readonly #signal: AbortSignal;
  readonly #onSent: (() => void) | undefined;
  readonly #body: Readable;
  #controller: Dispatcher.DispatchController | undefined;
  #status = 0;
  #headers: Record<string, string | string[] | undefined> = {};
  #ended = false;
  #settle: (error?: Error) => void = () => undefined;

  constructor(signal: AbortSignal, onSent: (() => void) | undefined) {
    this.#signal = signal;
    this.#onSent = onSent;
    this.#body = new Readable({
      highWaterMark: bodyBufferBytes,
      read: () => this.#controller?.resume(),
      destroy: (error, callback) => {
        if (!this.#ended) this.#controller?.abort(error ?? new Error('The response is not wanted'));
        callback(error);
      },
    });
    // Readers get the errors of a body; without a reader, they would end the process.
    this.#body.on('error', () => undefined);
  }

  /** Resolves when the headers of the response have arrived. An abort also ends the body. */
  run(dispatcher: Dispatcher, options: Dispatcher.DispatchOptions): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#signal.throwIfAborted();
      this.#settle = (error) => (error === undefined ? resolve() : reject(error));
      const stopListening = onAbort(this.#signal, () => this.#fail(this.#signal.reason as Error));
      this.#body.once('close', stopListening);
      dispatcher.dispatch(options, this);
    });
  }

  response(unpack: boolean): OutboundResponse {
    const header = (name: string) => {
      const value = this.#headers[name.toLowerCase()];
      return Array.isArray(value) ? value.join(', ') : (value ?? null);
    };
    const length = header('content-length');
    return {
      status: this.#status,
      header,
      length: length === null ? null : Number(length),
      body: unpack ? unpacked(this.#body, header('content-encoding')) : this.#body,
    };
  }

  #fail(error: Error): void {
    this.#settle(error);
    this.#body.destroy(error);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // It may have been aborted while it waited.
    if (this.#body.destroyed) controller.abort(this.#body.errored ?? new Error('The request was aborted'));
    else this.#callOnSent();
  }

  #callOnSent(): void {
    try {
      this.#onSent?.();
    } catch (error) {
      this.rejection = error;
      this.#fail(error as Error);
    }
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (status < 200) return;
    this.#status = status;
    this.#headers = headers;
    this.#settle();
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (!this.#body.push(chunk)) controller.pause();
  }

  onResponseEnd(): void {
    this.#ended = true;
    this.#body.push(null);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#ended = true;
    this.#fail(error);
  }
}

const decoders = new Map<string | undefined, () => NodeJS.ReadWriteStream & Readable>([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
]);

function unpacked(body: Readable, encoding: string | null): Readable {
  const createDecoder = decoders.get(encoding?.trim().toLowerCase());
  // The reader gets a decoder's failure; pipeline only requires the callback.
  return createDecoder === undefined ? body : pipeline(body, createDecoder(), () => undefined);
}

/** Discards the rest of a response. Keeps its connection if draining is cheap, else closes it. */
export function release({ body, length }: Pick<OutboundResponse, 'body' | 'length'>): void {
  if (length === null || length > maxDrainBytes) {
    body.destroy();
    return;
  }
  if (body.destroyed) return;
  body.resume();
  const timer = setTimeout(() => body.destroy(), maxDrainMs).unref();
  // Otherwise the timer would keep the request in memory, which adds up with many small files.
  body.once('close', () => clearTimeout(timer));
}

const timeoutCodes = new Set(['ETIMEDOUT', 'UND_ERR_CONNECT_TIMEOUT']);

function explain(host: string, code: string): OutboundError {
  if (code === notPublicCode) return new OutboundError('blocked_address', `${host} is not a public address`);
  if (timeoutCodes.has(code)) return new OutboundError('timeout', `${host} did not respond`);
  return new OutboundError('network', `The request to ${host} failed (${code})`);
}
