import type { Context, Middleware, ParameterizedContext } from 'koa';
import type { Logger } from '../../shared/platform/log.ts';
import { supportedLanguage, supportedLanguages } from '../../shared/i18n/message.ts';

/** The fields of Koa's `ctx.state`, which middleware sets for every request. */
export interface RequestState {
  requestId: string;
  log: Logger;
  /** Aborted when the client disconnects or the process shuts down. */
  signal: AbortSignal;
  /** The size of the response before compression, without parts that are constant; undefined until it is known. */
  bodyBytes?: number | undefined;
}

/** A request's context, in functions that need its log, id or signal. */
export type RequestContext = ParameterizedContext<RequestState>;

/** Middleware that uses `ctx.state`. */
export type StatefulMiddleware = Middleware<RequestState>;

/** A typed value that one middleware sets on a request and later ones read. */
export interface RequestValue<Value> {
  set(ctx: Pick<Context, 'req'>, value: Value): void;
  /** Returns the value, or undefined if none is set. */
  find(ctx: Pick<Context, 'req'>): Value | undefined;
  /** @throws {Error} if none is set. */
  get(ctx: Pick<Context, 'req'>): Value;
}

/** @param name names the value in the error of `get`. */
export function requestValue<Value>(name: string): RequestValue<Value> {
  const values = new WeakMap<object, { value: Value }>();
  return {
    set: ({ req }, value) => void values.set(req, { value }),
    find: ({ req }) => values.get(req)?.value,
    get: ({ req }) => {
      const entry = values.get(req);
      if (entry === undefined) throw new Error(`no middleware has set the ${name} of this request`);
      return entry.value;
    },
  };
}

/** Returns a parameter of the request's path; undefined if its route has no such parameter, or before routing. */
export function pathParam(ctx: Context, name: string): string | undefined {
  return (ctx.params as Record<string, string | undefined> | undefined)?.[name];
}

/**
 * Returns the language of a page's messages (i18n): the platform's, else the browser's, else English.
 *
 * @param wanted the language that the platform requests, in the platform's spelling
 */
export function pageLanguage(ctx: Context, wanted = ''): string {
  return supportedLanguage(wanted) ?? (ctx.acceptsLanguages(supportedLanguages()) || 'en');
}
