import Router from '@koa/router';
import type { DefaultContext, Middleware, ParameterizedContext } from 'koa';
import getRawBody from 'raw-body';
import { isRecord } from '../shared/lessons/json-values.ts';
import type { LoggedRequest } from './journal.ts';
import type { Platform } from './platform.ts';
import type { Service } from './faults.ts';

/** A request that a standard says to refuse; its message is for whoever develops the tool. */
export class Refusal extends Error {
  readonly status: number;
  /** As OAuth, OpenID Connect or the service has it, such as "invalid_scope". */
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** What middleware leaves for the handlers. */
export interface RequestState {
  /** The whole body, as text. */
  body: string;
}

export type Context = ParameterizedContext<RequestState, DefaultContext, unknown>;

const maxBodyBytes = 1024 ** 2;

export function createRouter(prefix = ''): Router<RequestState> {
  return new Router<RequestState>({ prefix, sensitive: true });
}

/** Reads the body and writes down every request, with what became of it. */
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

/** Answers a refusal as OAuth and the services have it, `{error, error_description}`, and tells it. */
export function renderRefusals(platform: Platform, kind: string): Middleware<RequestState> {
  return async (ctx, next) => {
    try {
      await next();
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      tellRefusal(platform, kind, ctx, error);
      ctx.status = error.status;
      if (error.status === 401) ctx.set('WWW-Authenticate', `Bearer error="${error.code}"`);
      ctx.body = { error: error.code, error_description: error.message };
    }
  };
}

/** Writes down a message that was refused. */
export function tellRefusal({ journal }: Platform, kind: string, ctx: Context, refusal: Refusal): void {
  const summary = `${refusal.status}: ${refusal.message}`;
  journal.tell({ kind, accepted: false, summary, content: contentOf(ctx) });
}

/** What a request brought: the fields of a form, else its text. */
function contentOf(ctx: Context): unknown {
  if (ctx.method === 'GET') return Object.fromEntries(new URLSearchParams(ctx.querystring));
  if (ctx.is('application/x-www-form-urlencoded')) {
    return Object.fromEntries(new URLSearchParams(ctx.state.body));
  }
  return ctx.state.body;
}

/** The fields of a posted form, or those of the query. A field that is there twice is a refusal. */
export function readParameters(ctx: Context): Record<string, string> {
  const text = ctx.method === 'POST' ? ctx.state.body : ctx.querystring;
  const fields = [...new URLSearchParams(text)];
  const parameters = Object.fromEntries(fields);
  if (Object.keys(parameters).length < fields.length) {
    throw new Refusal(400, 'invalid_request', 'A parameter is there twice.');
  }
  return parameters;
}

/** @throws {Refusal} where the body is not a JSON object. */
export function readJson(ctx: Context): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(ctx.state.body);
    if (isRecord(value)) return value;
  } catch {
    // Told below.
  }
  throw new Refusal(400, 'invalid_request', 'The body has to be a JSON object.');
}

/** Lets a service fail as it was told to. */
export function failing({ faults }: Platform, service: Service): Middleware<RequestState> {
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
