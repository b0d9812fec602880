import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { collectDefaultMetrics, Gauge } from 'prom-client';
import type { Registry } from 'prom-client';
import { LecternError, messageOf } from '../platform/errors.ts';
import type { Logger } from '../platform/log.ts';
import { release } from '../platform/paths.ts';
import type { ReadinessProbe } from './checks.ts';

/** The timeout of a request: probes send no body and few headers. */
const requestTimeoutMs = 5_000;

/** The server for orchestrators and Prometheus, on a private port. */
export interface OperationsServer {
  port: number;
  close(): Promise<void>;
}

export interface OperationsOptions {
  host: string;
  /** 0 selects a free port. */
  port: number;
  registry: Registry;
  /** For /readyz. */
  readiness: ReadinessProbe;
  log: Logger;
}

/**
 * Serves /livez (200), /readyz (200, or 503 if the process is not ready) and /metrics.
 *
 * @throws {LecternError} if the port is in use.
 */
export async function startOperationsServer(options: OperationsOptions): Promise<OperationsServer> {
  const { host, port, log } = options;
  registerProcessMetrics(options);
  const server = createServer({ requestTimeout: requestTimeoutMs }, (request, response) => {
    respond(options, request, response).catch((error: unknown) => {
      log.warn({ err: error, path: request.url }, 'an operations request failed');
      if (!response.headersSent) response.writeHead(500);
      response.end();
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => {
      const reason = `Port ${port} for metrics and health checks cannot be used: ${messageOf(error)}`;
      reject(new LecternError('INTERNAL_ERROR', reason, { cause: error }));
    });
    server.listen(port, host, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function registerProcessMetrics({ registry, readiness }: OperationsOptions): void {
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const help = 'The release of Lectern and the version of Node.js that this process runs; always 1.';
  const labelNames = ['release', 'node'];
  new Gauge({ name: 'lectern_build_info', help, labelNames, registers }).set(
    { release, node: process.versions.node },
    1,
  );
  new Gauge({
    name: 'lectern_check_ok',
    help: 'Checks of the dependencies of this process: 1 if it succeeds, 0 if it fails.',
    labelNames: ['check'],
    registers,
    async collect() {
      const { checks } = await readiness.read();
      this.reset();
      for (const [check, result] of Object.entries(checks)) this.set({ check }, result === 'ok' ? 1 : 0);
    },
  });
}

async function respond(
  { registry, readiness }: OperationsOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const send = (status: number, type: string, body: string) => {
    response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(body) });
    response.end(request.method === 'HEAD' ? undefined : body);
  };
  const json = (status: number, body: object) => send(status, 'application/json', JSON.stringify(body));
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.setHeader('allow', 'GET, HEAD');
    json(405, { error: 'Method not allowed' });
    return;
  }
  const path = request.url?.split('?', 1)[0];
  if (path === '/livez') {
    json(200, { status: 'ok' });
  } else if (path === '/readyz') {
    const state = await readiness.read();
    json(state.status === 'unavailable' ? 503 : 200, { release, ...state });
  } else if (path === '/metrics') {
    send(200, registry.contentType, await registry.metrics());
  } else {
    json(404, { error: 'Not found' });
  }
}
