import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { Dispatcher } from 'undici';
import type { Connections } from './connections.ts';
import { hostOf, notPublicCode } from './ssrf-guard.ts';
import { faultCode, OutboundError } from '../errors.ts';

/** An unwanted rest of a response is drained to keep the connection, if it is no larger and takes no longer. */
const maxDrainBytes = 16 * 1024;
const maxDrainMs = 1000;

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
  /** Uses a new connection, which ends with the response. */
  useNewConnection: boolean;
  headers: Record<string, string>;
  method?: 'GET' | 'POST' | 'PUT';
  body?: string;
  /** Decompresses a body that the server compressed without being asked; otherwise it stays compressed. */
  unpack?: boolean;
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

/** Sends a request; follows no redirects. @throws {OutboundError} or the reason of the signal. */
export async function send(
  url: URL,
  { connections, useNewConnection, headers, unpack = false, method = 'GET', body, signal }: OutboundRequest,
): Promise<OutboundResponse> {
  signal.throwIfAborted();
  const { dispatcher, requestEnded } = useNewConnection
    ? await connections.newFor(url)
    : await connections.keptFor(url, signal);
  let response: Dispatcher.ResponseData;
  try {
    const request = dispatcher.request({
      origin: url.origin,
      path: url.pathname + url.search,
      method,
      headers: { ...defaultHeaders, ...withLowerCaseNames(headers) },
      ...(body !== undefined && { body }),
      signal,
    });
    response = await request;
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw explain(hostOf(url), faultCode(error));
  } finally {
    requestEnded();
  }
  // Readers get the errors of a body; without a reader, they would end the process.
  response.body.on('error', () => undefined);
  const header = (name: string) => {
    const value = response.headers[name.toLowerCase()];
    return Array.isArray(value) ? value.join(', ') : (value ?? null);
  };
  const length = header('content-length');
  return {
    status: response.statusCode,
    header,
    length: length === null ? null : Number(length),
    body: unpack ? unpacked(response.body, header('content-encoding')) : response.body,
  };
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
