import { randomUUID } from 'node:crypto';
import { createServer, STATUS_CODES } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Config } from '../../shared/platform/config.ts';
import { codeOf, LecternError } from '../../shared/platform/errors.ts';
import type { ErrorCode } from '../../shared/platform/errors.ts';
import type { Logger } from '../../shared/platform/log.ts';
import { presentError } from './error-format.ts';
import type { Socket } from 'node:net';

/** The limit of request line and headers together: a token in the URL may have 16 KiB, and browsers send cookies. */
const maxHeaderBytes = 32 * 1024;

/** The errors of requests that no endpoint sees. */
export const rejectionTexts = {
  malformed: 'The request is not valid HTTP',
  tooSlow: 'The request took too long to arrive',
  largeHeaders: `The URL and headers of a request must be at most ${maxHeaderBytes} bytes`,
};

const headersTimeoutMs = 20_000;

/** How often Node checks connections for requests that take too long. */
const checkIntervalMs = 1_000;

/** After this time without a byte in either direction, the client counts as gone. */
const minIdleTimeoutMs = 10 * 60_000;

/** The margin between the longest wait for an archive and the idle timeout. */
const idleMarginMs = 60_000;

/** Koa, Node's pipeline, compression, log and limits each wait for a response's end: 11 of them for a stream. */
const maxResponseListeners = 20;

export interface ServerLimits {
  /** How long a request may take to arrive. */
  requestTimeoutMs: number;
  /** How long a connection may stay idle in both directions. */
  idleTimeoutMs: number;
  /** How long an unused connection stays open. Proxies should close it earlier, or requests get lost. */
  keepAliveMs: number;
}

export function serverLimits(
  config: Pick<Config, 'requestSeconds' | 'keepAliveSeconds' | 'export'>,
): ServerLimits {
  const waitMs = config.export.waitSeconds * 1000;
  return {
    requestTimeoutMs: config.requestSeconds * 1000,
    keepAliveMs: config.keepAliveSeconds * 1000,
    idleTimeoutMs: Math.max(minIdleTimeoutMs, waitMs + idleMarginMs),
  };
}

/**
 * Creates the HTTP server of the API. It disconnects clients that send too slowly or stop reading. Requests that are
 * malformed, too large or too slow get an API error, and their connection is closed. A client that sends
 * `Expect: 100-continue` gets 100 when `readBytes` begins to read the body.
 */
export function createHttpServer(
  handle: (request: IncomingMessage, response: ServerResponse) => void,
  { requestTimeoutMs, idleTimeoutMs, keepAliveMs }: ServerLimits,
  log: Logger,
): Server {
  const server = createServer({
    maxHeaderSize: maxHeaderBytes,
    // Uploads take longer than other requests: see limitArrival.
    requestTimeout: 0,
    headersTimeout: Math.min(headersTimeoutMs, requestTimeoutMs),
    connectionsCheckingInterval: checkIntervalMs,
    keepAliveTimeout: keepAliveMs,
  });
  server.timeout = idleTimeoutMs;
  const openResponses = new WeakMap<Duplex, Set<ServerResponse>>();
  const serve = (request: IncomingMessage, response: ServerResponse) => {
    const responses = openResponses.get(request.socket) ?? new Set();
    openResponses.set(request.socket, responses.add(response));
    // A response may end before its request does: it counts as open until both are closed.
    let open = 2;
    const close = () => {
      open -= 1;
      if (open === 0) responses.delete(response);
    };
    request.once('close', close);
    response.once('close', close);
    response.setMaxListeners(maxResponseListeners);
    limitArrival(request, requestTimeoutMs, () =>
      server.emit('clientError', arrivalTimeout(), request.socket),
    );
    handle(request, response);
  };
  server.on('request', serve);
  server.on('checkContinue', serve);
  // By default, Node rejects other expectations with 417; a server may ignore them (RFC 9110, 10.1.1).
  server.on('checkExpectation', serve);
  server.on('clientError', (error, socket) => {
    const begun = [...(openResponses.get(socket) ?? [])].some((response) => response.headersSent);
    // An error must not be written into a response that has begun.
    if (socket.writable && !begun) socket.end(rejection(error, log), () => socket.destroy());
    else socket.destroy();
  });
  return server;
}

/** Uploads, which limit their pace themselves. */
const unlimitedRequests = new WeakSet<IncomingMessage>();

/** Lets the body of a request take longer than REQUEST_TIMEOUT_SECONDS. The caller must limit its pace. */
export function allowLongBody(request: IncomingMessage): void {
  unlimitedRequests.add(request);
}

/** Calls `onLate` if a request has not arrived in time. Node has only one limit for all requests of a server. */
function limitArrival(request: IncomingMessage, timeoutMs: number, onLate: () => void): void {
  const { 'content-length': length, 'transfer-encoding': coding } = request.headers;
  if (coding === undefined && Number(length ?? 0) === 0) return;
  const timer = setTimeout(() => {
    if (!request.complete && !unlimitedRequests.has(request)) onLate();
  }, timeoutMs);
  request.once('close', () => clearTimeout(timer));
}

function arrivalTimeout(): Error {
  return Object.assign(new Error('the request took too long'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
}

const rejections: Record<string, [ErrorCode, string]> = {
  HPE_HEADER_OVERFLOW: ['HEADERS_TOO_LARGE', rejectionTexts.largeHeaders],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: ['PAYLOAD_TOO_LARGE', 'The chunk extensions of the body are too large'],
  ERR_HTTP_REQUEST_TIMEOUT: ['REQUEST_TIMEOUT', rejectionTexts.tooSlow],
};
const malformed: [ErrorCode, string] = ['BAD_REQUEST', rejectionTexts.malformed];

/** Returns the response to an invalid request. Logs only the error's code: the error contains the client's bytes. */
function rejection(error: Error, log: Logger): string {
  const reason = String(codeOf(error));
  const { status, code, message } = new LecternError(...(rejections[reason] ?? malformed));
  const requestId = randomUUID();
  log.info({ request: requestId, status, code: reason }, 'request rejected');
  const body = JSON.stringify(presentError(code, message));
  return [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'X-Content-Type-Options: nosniff',
    `X-Request-Id: ${requestId}`,
    `Error-Code: ${code}`,
    'Connection: close',
    '',
    body,
  ].join('\r\n');
}

const closeCheckMs = 200;

/**
 * Prepares an HTTP server for graceful shutdown (shared/platform/graceful-shutdown.ts); call it before the server
 * listens.
 *
 * @returns a function that accepts no more connections, closes those without a request at once, and resolves when the
 * others are done. Node alone would wait for connections that browsers and load balancers open in advance.
 */
export function prepareGracefulClose(server: Server): () => Promise<void> {
  const unused = new Set<Socket>();
  server.on('connection', (socket) => {
    unused.add(socket);
    socket.once('close', () => unused.delete(socket));
  });
  for (const event of ['request', 'checkContinue', 'checkExpectation']) {
    server.on(event, ({ socket }: IncomingMessage) => unused.delete(socket));
  }
  return async () => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    for (const socket of unused) socket.destroy();
    server.closeIdleConnections();
    // Otherwise a busy connection would stay alive after its response, and a further request on it would get no
    // response.
    const timer = setInterval(() => server.closeIdleConnections(), closeCheckMs);
    await closed.finally(() => clearInterval(timer));
  };
}
