import Router from '@koa/router';
import type { RouterContext } from '@koa/router';
import type { Context, Middleware } from 'koa';
import { z } from 'zod';
import type { ZodOpenApiExamplesObject } from 'zod-openapi';
import { PrintedJson, printJson } from '../../shared/platform/raw-json.ts';
import type { RawJson } from '../../shared/platform/raw-json.ts';
import type { RequestState } from './context.ts';
import { apiErrors } from './error-format.ts';
import type { ErrorFormat } from './error-format.ts';
import type { Headers } from './headers.ts';
import { parseRequest } from './parse-request.ts';
import type { Failures, JsonResponse, Responses, Security } from './responses.ts';
import { LecternError } from '../../shared/platform/errors.ts';

/**
 * Who may call an endpoint, and from where. Its middleware runs before the request is parsed, and inside the one that
 * renders errors. `identify` runs after path and query are parsed, for access that depends on them.
 */
export interface Access<Deps, Caller, Params = unknown, Query = unknown> {
  security: Security;
  /** Headers on every response. */
  headers: Headers;
  /** Failures that any endpoint with this access has. */
  failures: Failures;
  /** Whether OPTIONS is answered here, and listed in `Allow`. */
  preflight: boolean;
  /** The middleware, in order: CORS, limits, authentication. */
  middleware(deps: Deps): Middleware[];
  /** Returns the caller. @throws {LecternError} UNAUTHORIZED or FORBIDDEN. */
  identify(
    deps: Deps,
    request: { ctx: EndpointContext; params: Params; query: Query },
  ): Caller | Promise<Caller>;
}

export type EndpointContext = RouterContext<RequestState>;
export type Method = 'get' | 'post' | 'put' | 'delete';

/** A body. A handler reads it when its own checks have passed. */
export interface RequestBody<Body> {
  description: string;
  contentType: string;
  schema: z.ZodType;
  examples: ZodOpenApiExamplesObject;
  /** Failures of reading it: 413 and 422. */
  failures: Failures;
  /** Left out where the handler reads it in a way of its own. @throws {LecternError} PAYLOAD_TOO_LARGE or INVALID_CONTENT. */
  read?: (ctx: Context) => Promise<Body>;
}

/** What a handler gets: the parts of the request, parsed. */
export interface EndpointRequest<Caller, Params, Query, Body> {
  ctx: EndpointContext;
  caller: Caller;
  params: Params;
  query: Query;
  /** Reads the body; a handler calls it once. @throws as {@link RequestBody.read}. */
  readBody: () => Promise<Body>;
}

/** A response that the handler has written into the context itself: a stream, a page, a redirect. */
export const written = { kind: 'written' } as const;

/** What may stand for a JSON value of type `T`: any object or array in it may be {@link RawJson}. */
type Sendable<T> = T extends string | number | boolean | null | undefined
  ? T
  : | RawJson
    | (T extends readonly (infer Element)[] ? Sendable<Element>[] : { [K in keyof T]: Sendable<T[K]> });

/** What a handler returns: a documented status with a body that fits its schema. */
export type Reply<Documented extends Responses> =
  | {
      [Status in keyof Documented]: Documented[Status] extends JsonResponse<infer Schema>
        ? { status: Status; body: Sendable<z.input<Schema>> | PrintedJson<Sendable<z.input<Schema>>> }
        : Documented[Status] extends { kind: 'empty' }
          ? { status: Status }
          : never;
    }[keyof Documented]
  | typeof written;

export interface EndpointDefinition<
  AccessDeps,
  ErrorDeps,
  Caller,
  Params,
  Query,
  Body,
  Documented extends Responses,
> {
  method: Method;
  /** As @koa/router takes it: "/api/lessons/:lessonId". */
  path: string;
  /** The path in the OpenAPI document, where `path` has a wildcard. */
  documentedPath?: string;
  access: Access<AccessDeps, Caller, NoInfer<Params>, NoInfer<Query>>;
  errors: ErrorFormat<ErrorDeps>;
  /** For the OpenAPI document, where the handler itself checks credentials that `access` does not. */
  security?: Security;
  /** The code of path and query that do not parse: BAD_REQUEST is 400, INVALID_CONTENT 422. */
  invalid?: 'BAD_REQUEST' | 'INVALID_CONTENT';
  params?: z.ZodType<Params>;
  /** Parts of the path that the handler parses itself, because other checks come first. */
  laterParams?: z.ZodObject;
  query?: z.ZodType<Query>;
  /** Parts of the query that the handler parses itself. */
  laterQuery?: z.ZodObject;
  /** Request headers, for the OpenAPI document. */
  headers?: z.ZodObject;
  body?: RequestBody<Body>;
  /** Every status but 405, which the path's endpoints imply. */
  responses: Documented;
  /** For the OpenAPI document. */
  operationId: string;
  tag: string;
  summary: string;
  description?: string;
  /** A shell command that calls the endpoint. */
  sample?: readonly string[];
}

/** A JSON response before it is sent. */
export interface JsonReply {
  operationId: string;
  status: number;
  /** What the body is documented to be; undefined where the status has no JSON body. */
  schema: z.ZodType | undefined;
  text: string;
}

/** Inspects a response. The request gets 500 if it throws. */
export type InspectReply = (reply: JsonReply) => void;

/** An endpoint: everything that its route and its entry in the OpenAPI document are made from. */
export interface Endpoint<Deps> extends EndpointDefinition<
  Deps,
  Deps,
  unknown,
  unknown,
  unknown,
  unknown,
  Responses
> {
  /** @param inspect every JSON response that the handler returns. */
  createHandler(deps: Deps, inspect?: InspectReply): (ctx: EndpointContext) => Promise<void>;
}

/**
 * Defines an endpoint. A request meets its parts in this order: the middleware of `access` (CORS, limits,
 * authentication), then `params` and `query`, then `access.identify`, then the handler, which reads the body.
 *
 * @param handle creates the handler once for each application.
 */
export function defineEndpoint<
  AccessDeps,
  ErrorDeps,
  Deps,
  Caller,
  const Documented extends Responses,
  Params = undefined,
  Query = undefined,
  Body = undefined,
>(
  definition: EndpointDefinition<AccessDeps, ErrorDeps, Caller, Params, Query, Body, Documented>,
  handle: (
    deps: Deps,
  ) => (
    request: EndpointRequest<Caller, Params, Query, Body>,
  ) => Promise<Reply<Documented>> | Reply<Documented>,
): Endpoint<AccessDeps & ErrorDeps & Deps> {
  const { params, query, body, access, invalid = 'BAD_REQUEST' } = definition;
  const send = replySender(definition);
  return {
    ...(definition as unknown as Endpoint<AccessDeps & ErrorDeps & Deps>),
    createHandler(deps, inspect) {
      const respond = handle(deps);
      return async (ctx) => {
        const parsed = {
          ctx,
          params: (params && parseRequest(params, ctx.params, invalid)) as Params,
          query: (query && parseRequest(query, ctx.query, invalid)) as Query,
        };
        const caller = await access.identify(deps, parsed);
        const readBody = () => {
          if (body?.read === undefined) throw new Error(`${definition.path} has no body to read`);
          return body.read(ctx);
        };
        const reply = await respond({ ...parsed, caller, readBody });
        if ('status' in reply) send(ctx, reply, inspect);
      };
    },
  };
}

/** Returns the function that sends the replies of an endpoint's handler. */
function replySender({ operationId, responses }: Pick<Endpoint<never>, 'operationId' | 'responses'>) {
  const documented = new Map(
    Object.entries(responses).map(([status, response]) => [
      Number(status),
      { schema: response.kind === 'json' ? response.schema : undefined, headers: fixedHeaders(response) },
    ]),
  );
  return (
    ctx: Context,
    reply: { status: PropertyKey; body?: unknown },
    inspect: InspectReply | undefined,
  ): void => {
    const status = Number(reply.status);
    const { schema, headers } = documented.get(status) ?? { schema: undefined, headers: {} };
    const text = reply.body === undefined ? undefined : textOf(reply.body);
    if (text !== undefined) inspect?.({ operationId, status, text, schema });
    ctx.status = status;
    ctx.set(headers);
    if (text === undefined) return;
    ctx.type = 'application/json';
    ctx.body = text;
  };
}

/** Returns the headers that have one possible value, which is stated once: where they are documented. */
function fixedHeaders({ headers = {} }: { headers?: Headers }): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, schema]) =>
      schema instanceof z.ZodLiteral && schema.values.size === 1
        ? [[name, String([...schema.values][0])]]
        : [],
    ),
  );
}

function textOf(body: unknown): string {
  return body instanceof PrintedJson ? body.text : printJson(body as Record<string, unknown>);
}

const methodOrder = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS'];

/**
 * Adds routes for endpoints to a router. Other methods on their paths get 405, after the middleware of the path's
 * access; that of a path's endpoints must be the same.
 *
 * @param inspect every JSON response that a handler returns.
 */
export function addEndpoints<Deps>(
  router: Router<RequestState>,
  endpoints: readonly Endpoint<Deps>[],
  deps: Deps,
  inspect?: InspectReply,
): void {
  for (const path of new Set(endpoints.map((endpoint) => endpoint.path))) {
    const group = endpoints.filter((endpoint) => endpoint.path === path);
    const [{ access, errors }] = group as [Endpoint<Deps>];
    if (group.some((other) => other.access !== access || other.errors !== errors)) {
      throw new Error(`the endpoints of ${path} must share their access and their error format`);
    }
    // The application itself renders errors in the common format.
    const renderErrors = errors === apiErrors() ? [] : [errors.render(deps)];
    const chain = [...renderErrors, ...access.middleware(deps)];
    for (const endpoint of group)
      router[endpoint.method](path, ...chain, endpoint.createHandler(deps, inspect));
    const methods = group.flatMap(({ method }) =>
      method === 'get' ? ['GET', 'HEAD'] : method.toUpperCase(),
    );
    const allowed = methodOrder.filter(
      (method) => methods.includes(method) || (method === 'OPTIONS' && access.preflight),
    );
    router.all(path, ...chain, methodNotAllowed(allowed.join(', ')));
  }
}

/** For the methods that a known path does not take. @param allowed those that it takes, such as "GET, HEAD". */
function methodNotAllowed(allowed: string): Middleware {
  return (ctx) => {
    ctx.set('Allow', allowed);
    throw new LecternError('METHOD_NOT_ALLOWED', `${ctx.method} is not allowed here`);
  };
}

/**
 * Returns a router whose routes are case-sensitive. By default, the library's routes match in any case, but the
 * middleware in front of them (credentials, limits, origins) does not where the prefix has no parameters:
 * "/API/SESSION" would reach a handler without passing it.
 *
 * @param prefix what all its paths begin with, such as "/api/lessons".
 */
export function createRouter(prefix = ''): Router<RequestState> {
  return new Router<RequestState>({ prefix, sensitive: true });
}

/** The library's regular expression for a path parameter. */
const parameter = '([^\\/]+)';
const perhapsEmpty = '([^\\/]*)';

/**
 * Lets the parameters in all paths of a router be empty, so that "/api/lessons//versions" reaches the endpoint, whose
 * own checks (credentials, limits, ids) then answer; a handler finds such a parameter undefined. By default the
 * library takes such a path for an unknown one.
 */
export function acceptEmptyParameters(router: Router<RequestState>): Router<RequestState> {
  for (const layer of router.stack) {
    layer.regexp = new RegExp(layer.regexp.source.replaceAll(parameter, perhapsEmpty), layer.regexp.flags);
  }
  return router;
}
