import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';

/**
 * A foreign web server that does what a test tells it to:
 *
 *     const origin = await startOrigin();
 *     origin.serve('/a.png', png, { contentType: 'image/png', etag: '"1"' });
 *     origin.script('/b.png', answer(503), truncated(png, 10), file(png)); // one behavior a request, the last stays
 *     ... origin.url('/b.png') ... origin.requests('/b.png') === 3 ...
 *     await origin.close();
 *
 * It listens on 127.0.0.1 only: name `origin.host` in `allowedPrivateHosts` to let downloads reach it.
 */
export interface Origin {
  /** `127.0.0.1:port`. */
  readonly host: string;
  /** Every request, in order of arrival. */
  readonly log: readonly LoggedRequest[];
  /** The maximum number of concurrent requests. */
  readonly peak: number;
  /** Connections that are open now, and all connections ever. */
  readonly connections: { open: number; total: number };
  url(path: string): string;
  /** Serves a file at a path: GET, HEAD, If-None-Match, If-Modified-Since. */
  serve(path: string, body: Uint8Array | string, options?: FileOptions): void;
  /** Plays one behavior for each request at a path; the last one repeats. Unknown paths get 404. */
  script(path: string, ...behaviors: [Behavior, ...Behavior[]]): void;
  /** Returns how often a path was requested; the query does not count. */
  requests(path: string): number;
  /** Closes every connection. */
  close(): Promise<void>;
}

export interface LoggedRequest {
  method: string;
  /** With the query. */
  url: string;
  path: string;
  headers: IncomingHttpHeaders;
}

export interface FileOptions {
  /** No Content-Type without it. */
  contentType?: string;
  etag?: string;
  lastModified?: string;
  headers?: Record<string, string>;
}

/** The handling of one request. */
export type Behavior = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>;

const asBuffer = (body: Uint8Array | string) => (typeof body === 'string' ? Buffer.from(body) : body);

/** Responds with a status, headers and a short text. */
export const answer =
  (status: number, headers: Record<string, string> = {}, body = ''): Behavior =>
  (_request, response) => {
    response.writeHead(status, { 'content-length': Buffer.byteLength(body), ...headers }).end(body);
  };

/** Sends a file, or 304 if the request's validator matches. */
export function file(body: Uint8Array | string, options: FileOptions = {}): Behavior {
  const bytes = asBuffer(body);
  return (request, response) => {
    const headers = {
      ...(options.contentType !== undefined && { 'content-type': options.contentType }),
      ...(options.etag !== undefined && { etag: options.etag }),
      ...(options.lastModified !== undefined && { 'last-modified': options.lastModified }),
      ...options.headers,
    };
    const { 'if-none-match': match, 'if-modified-since': since } = request.headers;
    const fresh =
      match !== undefined ? match === options.etag : since !== undefined && since === options.lastModified;
    if (fresh) {
      response.writeHead(304, headers).end();
    } else {
      response.writeHead(200, { 'content-length': bytes.length, ...headers });
      response.end(request.method === 'HEAD' ? undefined : bytes);
    }
  };
}

/** Sends a file in pieces, with a delay before each. */
export const slowly =
  (
    body: Uint8Array | string,
    pieces: number,
    delayMs: number,
    headers: Record<string, string> = {},
  ): Behavior =>
  async (_request, response) => {
    const bytes = asBuffer(body);
    response.writeHead(200, { 'content-length': bytes.length, ...headers }).flushHeaders();
    const size = Math.ceil(bytes.length / pieces);
    for (let start = 0; start < bytes.length && !response.destroyed; start += size) {
      await sleep(delayMs);
      response.write(bytes.subarray(start, start + size));
    }
    response.end();
  };

/** Sends the first bytes of a file, then nothing on an open connection. */
export const stalled =
  (body: Uint8Array | string, sentBytes: number, headers: Record<string, string> = {}): Behavior =>
  (_request, response) => {
    const bytes = asBuffer(body);
    response.writeHead(200, { 'content-length': bytes.length, ...headers });
    response.write(bytes.subarray(0, sentBytes));
  };

/** Ends the connection before the Content-Length is reached. */
export const truncated =
  (body: Uint8Array | string, missingBytes: number, headers: Record<string, string> = {}): Behavior =>
  (_request, response) => {
    const bytes = asBuffer(body);
    response.writeHead(200, { 'content-length': bytes.length, ...headers });
    response.write(bytes.subarray(0, bytes.length - missingBytes), () => response.socket?.end());
  };

/** Sends a chunked body without its last chunk. */
export const cutChunked =
  (body: Uint8Array | string, headers: Record<string, string> = {}): Behavior =>
  (_request, response) => {
    response.writeHead(200, { 'transfer-encoding': 'chunked', ...headers });
    response.write(asBuffer(body), () => response.socket?.end());
  };

/** Sends raw bytes instead of an HTTP response; then closes the connection. */
export const raw =
  (text: string): Behavior =>
  (_request, response) => {
    response.socket?.end(text);
  };

/** Resets the connection without a response. */
export const reset = (): Behavior => (_request, response) => {
  response.socket?.resetAndDestroy();
};

/** Never responds, on an open connection. */
export const hang = (): Behavior => () => {};

/** Sends zeros without a Content-Length: `totalBytes`, or endlessly. `onSent` gets the number of sent bytes. */
export const stream =
  (totalBytes = Infinity, headers: Record<string, string> = {}, onSent?: (count: number) => void): Behavior =>
  async (_request, response) => {
    const chunk = Buffer.alloc(64 * 1024, 7);
    response.writeHead(200, headers);
    await pipeline(function* () {
      for (let sent = 0; sent < totalBytes; sent += chunk.length) {
        const piece = chunk.subarray(0, Math.min(chunk.length, totalBytes - sent));
        onSent?.(piece.length);
        yield piece;
      }
    }, response);
  };

export const redirectTo = (url: string, status = 302): Behavior => answer(status, { location: url });

/** Sends a compressed file, even if the client does not accept it. */
export const gzipped = (body: Uint8Array | string, options: FileOptions = {}): Behavior =>
  file(gzipSync(asBuffer(body)), {
    ...options,
    headers: { 'content-encoding': 'gzip', ...options.headers },
  });

/** Starts an origin on a free port of 127.0.0.1. */
export async function startOrigin(): Promise<Origin> {
  const scripts = new Map<string, Behavior[]>();
  const log: LoggedRequest[] = [];
  const connections = { open: 0, total: 0 };
  let running = 0;
  let peak = 0;

  const server = createServer((request, response) => {
    const { method = '', url = '', headers } = request;
    const path = url.split('?', 1)[0] ?? '';
    log.push({ method, url, path, headers });
    peak = Math.max(peak, ++running);
    response.on('close', () => running--);
    const script = scripts.get(path);
    const behavior =
      (script !== undefined && script.length > 1 ? script.shift() : script?.[0]) ?? answer(404);
    // A client that disconnects in the middle is part of the test.
    (async () => behavior(request, response))().catch(() => response.destroy());
  });
  server.on('connection', (socket) => {
    connections.open++;
    connections.total++;
    socket.on('close', () => connections.open--);
  });
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;

  return {
    host,
    log,
    connections,
    get peak() {
      return peak;
    },
    url: (path) => `http://${host}${path}`,
    serve(path, body, options) {
      scripts.set(path, [file(body, options)]);
    },
    script(path, ...behaviors) {
      scripts.set(path, behaviors);
    },
    requests: (path) => log.filter((entry) => entry.path === path).length,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
