import { randomUUID } from 'node:crypto';
import { createServer, STATUS_CODES } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Config } from '../../shared/platform/config.ts';
import { codeOf } from '../../shared/platform/errors.ts';
import type { Logger } from '../../shared/platform/log.ts';
import { presentError } from './error-format.ts';
import type { Socket } from 'node:net';

/** Request line and headers together. A token in the URL may have 16 KiB, and browsers send cookies. */
const maxHeaderBytes = 32 * 1024;

const headersTimeoutMs = 20_000;

/** How often connections are looked at, for requests that take too long. */
const checkIntervalMs = 1_000;

/** Above the 60 s for which common proxies keep a connection: the one that closes it must not be this end. */
const keepAliveTimeoutMs = 65_000;

/** A reader that takes nothing for so long is gone, and so is one that Lectern has nothing for. */
const minIdleTimeoutMs = 10 * 60_000;

/** Between the end of the longest wait for an archive and the cut of its connection. */
const idleMarginMs = 60_000;

export interface ServerLimits {
  /** For a request to arrive as a whole. */
  requestTimeoutMs: number;
  /** For a connection on which no byte moves, in either direction. */
  idleTimeoutMs: number;
}

export function serverLimits(config: Pick<Config, 'requestSeconds' | 'export'>): ServerLimits {
  const waitMs = config.export.waitSeconds * 1000;
  return {
    requestTimeoutMs: config.requestSeconds * 1000,
    idleTimeoutMs: Math.max(minIdleTimeoutMs, waitMs + idleMarginMs),
  };
}

/**
 * The HTTP server of the API. A client that drips its request or stops reading is cut; what is no HTTP, is too large
 * or comes too slowly is answered in shape A, and its connection closed. A client that asks before it sends a body
 * (Expect: 100-continue) sends it only when the body is wanted: `readJsonBody` tells it.
 */
export function createHttpServer(
  handle: (request: IncomingMessage, response: ServerResponse) => void,
  { requestTimeoutMs, idleTimeoutMs }: ServerLimits,
  log: Logger,
): Server {
  const server = createServer({
    maxHeaderSize: maxHeaderBytes,
    requestTimeout: requestTimeoutMs,
    headersTimeout: Math.min(headersTimeoutMs, requestTimeoutMs),
    connectionsCheckingInterval: checkIntervalMs,
    keepAliveTimeout: keepAliveTimeoutMs,
  });
  server.timeout = idleTimeoutMs;
  const answering = new WeakMap<Duplex, Set<ServerResponse>>();
  const serve = (request: IncomingMessage, response: ServerResponse) => {
    const responses = answering.get(request.socket) ?? new Set();
    answering.set(request.socket, responses.add(response));
    // A response may be sent before the whole request has arrived.
    let open = 2;
    const close = () => {
      open -= 1;
      if (open === 0) responses.delete(response);
    };
    request.once('close', close);
    response.once('close', close);
    handle(request, response);
  };
  server.on('request', serve);
  server.on('checkContinue', serve);
  // Other expectations may be ignored (RFC 9110, 10.1.1); by default, Node returns 417.
  server.on('checkExpectation', serve);
  server.on('clientError', (error, socket) => {
    const begun = [...(answering.get(socket) ?? [])].some((response) => response.headersSent);
    // Nothing else may be written into a response that has begun, and a request gets one response.
    if (socket.writable && !begun) socket.end(refusal(error, log), () => socket.destroy());
    else socket.destroy();
  });
  return server;
}

const statuses: Record<string, { status: number; message: string }> = {
  HPE_HEADER_OVERFLOW: {
    status: 431,
    message: `The address and the headers of a request must be at most ${maxHeaderBytes} bytes`,
  },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: { status: 413, message: 'The chunk extensions of the body are too large' },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, message: 'The request took too long to arrive' },
};
const malformed = { status: 400, message: 'The request is not valid HTTP' };

/** Returns a response to bytes that are no request. Only the error's code is logged: the rest holds what was sent. */
function refusal(error: Error, log: Logger): string {
  const code = String(codeOf(error));
  const { status, message } = statuses[code] ?? malformed;
  const requestId = randomUUID();
  log.info({ request: requestId, status, code }, 'request refused');
  const body = JSON.stringify(presentError(message));
  return [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'X-Content-Type-Options: nosniff',
    `X-Request-Id: ${requestId}`,
    'Connection: close',
    '',
    body,
  ].join('\r\n');
}

const closeCheckMs = 200;

/**
 * Prepares the end of an HTTP server, before it listens: the function given takes no more connections, ends those
 * without a request at once, and resolves when the others are done.
 *
 * Node by itself would wait for connections that never sent anything, as browsers and load balancers hold them ready.
 */
export function prepareGracefulClose(server: Server): () => Promise<void> {
  const silent = new Set<Socket>();
  server.on('connection', (socket) => {
    silent.add(socket);
    socket.once('close', () => silent.delete(socket));
  });
  for (const event of ['request', 'checkContinue', 'checkExpectation']) {
    server.on(event, ({ socket }: IncomingMessage) => silent.delete(socket));
  }
  return async () => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    for (const socket of silent) socket.destroy();
    server.closeIdleConnections();
    // Busy connections would be kept alive afterwards, for a next request that gets no response.
    const timer = setInterval(() => server.closeIdleConnections(), closeCheckMs);
    await closed.finally(() => clearInterval(timer));
  };
}
