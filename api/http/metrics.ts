import { Counter, Histogram, Registry } from 'prom-client';
import type { Context } from 'koa';
import { clientGone } from './middleware/request-context.ts';

/** Buckets in seconds, from cached responses to downloads and waits for an archive. */
const requestBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

/** The label of requests without a route: clients can send any path. */
const noRoute = 'none';

/** The metrics of one API process, for Prometheus. The number of label values is bounded by the number of routes. */
export class ApiMetrics {
  readonly registry = new Registry();
  readonly #registers = [this.registry];

  readonly #requests = new Histogram({
    name: 'lectern_http_request_seconds',
    help: 'From a request to the end of its response, by method, route and class of status; 401, 429 and 499 (for clients that disconnected) are separate.',
    labelNames: ['method', 'route', 'status'],
    buckets: requestBuckets,
    registers: this.#registers,
  });
  readonly #sent = new Counter({
    name: 'lectern_http_response_bytes_total',
    help: 'Bytes of responses, their headers included.',
    labelNames: ['route'],
    registers: this.#registers,
  });

  recordRequest(ctx: Context, response: { status: number; seconds: number; bytes: number }): void {
    const { _matchedRoute: matched } = ctx as { _matchedRoute?: unknown };
    const route = typeof matched === 'string' ? matched : noRoute;
    const { status: exact } = response;
    const status = separateStatuses.has(exact) ? String(exact) : `${Math.floor(exact / 100)}xx`;
    const method = knownMethods.has(ctx.method) ? ctx.method : 'other';
    this.#requests.observe({ method, route, status }, response.seconds);
    this.#sent.inc({ route }, response.bytes);
  }
}

/** Statuses with a label of their own: rejected credentials, rate limits, and clients that disconnected. */
const separateStatuses = new Set([401, 429, clientGone]);

/** Methods with a label; clients can send any word. */
const knownMethods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
