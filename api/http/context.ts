import type { Context, ParameterizedContext } from 'koa';
import type { Logger } from '../../shared/platform/log.ts';

/** What middleware sets for all requests; Koa's `ctx.state`. */
export interface RequestState {
  requestId: string;
  log: Logger;
  /** Aborted when no response is needed any more: the client disconnected, or the process shuts down. */
  signal: AbortSignal;
}

/** A request's context, in functions that need its log, id or signal. */
export type RequestContext = ParameterizedContext<RequestState>;

/** A value that one middleware sets for a request, and others read. */
export interface RequestValue<Value> {
  set(ctx: Pick<Context, 'req'>, value: Value): void;
  /** Returns the value; undefined when none was set. */
  find(ctx: Pick<Context, 'req'>): Value | undefined;
  /** @throws {Error} when none was set. */
  get(ctx: Pick<Context, 'req'>): Value;
}

/** @param name for the error when it is missing. */
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
