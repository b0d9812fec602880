import Router from '@koa/router';
import type { DefaultContext, Middleware, ParameterizedContext } from 'koa';
import getRawBody from 'raw-body';
import { isRecord } from '../shared/lessons/json-values.ts';
import type { LoggedRequest } from './journal.ts';
import type { Platform } from './platform.ts';
import type { Service } from './faults.ts';

/** Rejects a request that violates a standard. The message is for the tool's developers. */
export class Rejection extends Error {
  readonly status: number;
  /** The error code of OAuth, OpenID Connect or the service, such as "invalid_scope". */
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** Values that middleware sets for the handlers. */
export interface RequestState {
  /** The whole body, as text. */
  body: string;
}

export type Context = ParameterizedContext<RequestState, DefaultContext, unknown>;

const maxBodyBytes = 1024 ** 2;

export function createRouter(prefix = ''): Router<RequestState> {
  return new Router<RequestState>({ prefix, sensitive: true });
}

/** Reads the body, and adds the request and its status to the journal. */
export function recordRequests({ journal }: Platform): Middleware<RequestState> {
  return async (ctx, next) => {
    const body = await getRawBody(ctx.req, { limit: maxBodyBytes, encoding: 'utf8' });
    ctx.state.body = body;
    const { method, path, url, headers } = ctx;
    const entry: LoggedRequest = { at: new Date(), method, path, url, headers, body, status: null };
    journal.addRequest(entry);
    ctx.res.once('finish', () => (entry.status = ctx.res.statusCode));
    await next();
  };
}

/** Renders rejections as OAuth defines, `{error, error_description}`, and adds them to the journal. */
export function renderRejections(platform: Platform, kind: string): Middleware<RequestState> {
  return async (ctx, next) => {
    try {
      await next();
    } catch (error) {
      if (!(error instanceof Rejection)) throw error;
      logRejection(platform, kind, ctx, error);
      ctx.status = error.status;
      if (error.status === 401) ctx.set('WWW-Authenticate', `Bearer error="${error.code}"`);
      ctx.body = { error: error.code, error_description: error.message };
    }
  };
}

/** Adds a rejected message to the journal. */
export function logRejection({ journal }: Platform, kind: string, ctx: Context, rejection: Rejection): void {
  const summary = `${rejection.status}: ${rejection.message}`;
  journal.addMessage({ kind, accepted: false, summary, content: contentOf(ctx) });
}

/** Returns the fields of a query or form, or else the body. */
function contentOf(ctx: Context): unknown {
  if (ctx.method === 'GET') return Object.fromEntries(new URLSearchParams(ctx.querystring));
  if (ctx.is('application/x-www-form-urlencoded')) {
    return Object.fromEntries(new URLSearchParams(ctx.state.body));
  }
  return ctx.state.body;
}

/** Returns the fields of a posted form, or those of the query. @throws {Rejection} for a duplicate field */
export function readParameters(ctx: Context): Record<string, string> {
  const text = ctx.method === 'POST' ? ctx.state.body : ctx.querystring;
  const fields = [...new URLSearchParams(text)];
  const parameters = Object.fromEntries(fields);
  if (Object.keys(parameters).length < fields.length) {
    throw new Rejection(400, 'invalid_request', 'A parameter occurs twice.');
  }
  return parameters;
}

/** @throws {Rejection} if the body is not a JSON object */
export function readJson(ctx: Context): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(ctx.state.body);
    if (isRecord(value)) return value;
  } catch {
    // Rejected below.
  }
  throw new Rejection(400, 'invalid_request', 'The body must be a JSON object.');
}

/** Makes a service fail as its faults say. */
export function applyFaults({ faults }: Platform, service: Service): Middleware<RequestState> {
  return async (ctx, next) => {
    const fault = faults.take(service);
    if (fault === null) {
      await next();
      return;
    }
    if (fault.delayMs !== undefined) await new Promise((resolve) => setTimeout(resolve, fault.delayMs));
    if (fault.afterwards === true) await next();
    if (fault.drop === true) {
      ctx.respond = false;
      ctx.req.socket.resetAndDestroy();
    } else if (fault.hang === true) {
      ctx.respond = false;
    } else if (fault.status !== undefined) {
      ctx.status = fault.status;
      ctx.set(fault.headers ?? {});
      ctx.body = fault.body ?? '';
    } else if (fault.afterwards !== true) {
      await next();
    }
  };
}
