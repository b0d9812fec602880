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
  /** The headers of every response. */
  headers: Headers;
  /** The failures of every endpoint with this access. */
  failures: Failures;
  /** Whether the middleware responds to OPTIONS; `Allow` then lists it. */
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
export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

/** A request body. The handler reads it after its own checks. */
export interface RequestBody<Body> {
  description: string;
  contentType: string;
  schema: z.ZodType;
  examples: ZodOpenApiExamplesObject;
  /** The failures of `read`: 413 and 422. */
  failures: Failures;
  /** Missing if the handler reads the body itself. @throws {LecternError} PAYLOAD_TOO_LARGE or INVALID_CONTENT. */
  read?: (ctx: Context) => Promise<Body>;
}

/** The parsed parts of a request, for the handler. */
export interface EndpointRequest<Caller, Params, Query, Body> {
  ctx: EndpointContext;
  caller: Caller;
  params: Params;
  query: Query;
  /** Reads the body; a handler calls it once. @throws as {@link RequestBody.read}. */
  readBody: () => Promise<Body>;
}

/** The result of a handler that has written the response into the context: a stream, a page, a redirect. */
export const written = { kind: 'written' } as const;

/** A JSON value of type `T`, in which {@link RawJson} may replace any object or array. */
type Sendable<T> = T extends string | number | boolean | null | undefined
  ? T
  : | RawJson
    | (T extends readonly (infer Element)[] ? Sendable<Element>[] : { [K in keyof T]: Sendable<T[K]> });

/** The result of a handler: a documented status, with a body that fits its schema. */
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
  /** For the OpenAPI document, if the handler itself checks credentials. */
  security?: Security;
  /** The error code of an invalid path or query: BAD_REQUEST is 400, INVALID_CONTENT 422. */
  invalid?: 'BAD_REQUEST' | 'INVALID_CONTENT';
  params?: z.ZodType<Params>;
  /** Path parameters that the handler parses itself, after other checks. */
  laterParams?: z.ZodObject;
  query?: z.ZodType<Query>;
  /** Query parameters that the handler parses itself. */
  laterQuery?: z.ZodObject;
  /** Request headers, for the OpenAPI document. */
  headers?: z.ZodObject;
  body?: RequestBody<Body>;
  /** Every status except 405, which follows from the endpoints of the path. */
  responses: Documented;
  /** For the OpenAPI document. */
  operationId: string;
  tag: string;
  summary: string;
  description?: string;
  /** A shell command that calls the endpoint. */
  sample?: readonly string[];
}

/** A JSON response, before Lectern sends it. */
export interface JsonReply {
  operationId: string;
  status: number;
  /** The documented schema; undefined if the status has no JSON body. */
  schema: z.ZodType | undefined;
  text: string;
}

/** Checks a response. If it throws, the request gets 500. */
export type InspectReply = (reply: JsonReply) => void;

/** An endpoint: the source of its route and of its entry in the OpenAPI document. */
export interface Endpoint<Deps> extends EndpointDefinition<
  Deps,
  Deps,
  unknown,
  unknown,
  unknown,
  unknown,
  Responses
> {
  /** @param inspect checks every JSON response of the handler. */
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

/** Returns the headers whose documented schema allows one value. */
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

const methodOrder = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/**
 * Adds the routes of endpoints to a router. Endpoints of one path must share their access and error format: other
 * methods on the path run the same middleware and then get 405.
 *
 * @param inspect checks every JSON response of the handlers.
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

/** @param allowed the methods of the path, such as "GET, HEAD". */
function methodNotAllowed(allowed: string): Middleware {
  return (ctx) => {
    ctx.set('Allow', allowed);
    throw new LecternError('METHOD_NOT_ALLOWED', `${ctx.method} is not allowed here`);
  };
}

/**
 * Returns a router with case-sensitive routes. By default, routes match in any case but middleware sometimes does not:
 * "/API/SESSION" would bypass credentials, limits and CORS.
 */
export function createRouter(): Router<RequestState> {
  return new Router<RequestState>({ sensitive: true });
}

/** The library's regular expression for a path parameter. */
const parameter = '([^\\/]+)';
const optionalParameter = '([^\\/]*)';

/**
 * Lets path parameters be empty: "/api/lessons//versions" reaches the endpoint, whose checks (credentials, limits, ids)
 * reject it. The handler gets such a parameter as undefined. By default, the library treats the path as unknown.
 */
export function acceptEmptyParameters(router: Router<RequestState>): Router<RequestState> {
  for (const layer of router.stack) {
    layer.regexp = new RegExp(
      layer.regexp.source.replaceAll(parameter, optionalParameter),
      layer.regexp.flags,
    );
  }
  return router;
}
