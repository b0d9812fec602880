import { Counter, Histogram, Registry } from 'prom-client';
import type { Context } from 'koa';
import { clientGone } from './middleware/log-requests.ts';

/** Buckets in seconds, from cached responses to downloads and waits for an archive. */
const requestBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

/** Requests that no route takes: their paths are whatever anybody sends. */
const noRoute = 'none';

/** Metrics of one API process for Prometheus. Labels have at most as many values as there are routes. */
export class ApiMetrics {
  readonly registry = new Registry();
  readonly #registers = [this.registry];

  readonly #requests = new Histogram({
    name: 'lectern_http_request_seconds',
    help: 'From a request to the end of its response, by method, route and class of status; 499 for clients gone.',
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

  /** A request has had its answer. @param answer.bytes of it, its headers included. */
  recordRequest(ctx: Context, answer: { status: number; seconds: number; bytes: number }): void {
    const { _matchedRoute: matched } = ctx as { _matchedRoute?: unknown };
    const route = typeof matched === 'string' ? matched : noRoute;
    const status = answer.status === clientGone ? String(clientGone) : `${Math.floor(answer.status / 100)}xx`;
    const method = knownMethods.has(ctx.method) ? ctx.method : 'other';
    this.#requests.observe({ method, route, status }, answer.seconds);
    this.#sent.inc({ route }, answer.bytes);
  }
}

/** Clients may send any word. */
const knownMethods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
