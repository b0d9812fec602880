import { randomUUID } from 'node:crypto';
import type { RouterContext } from '@koa/router';
import type { Context, Middleware } from 'koa';
import { z } from 'zod';
import type { Permission } from '../../shared/accounts/permissions.ts';
import type { ZodOpenApiExamplesObject } from 'zod-openapi';
import type { AuditAction } from '../../shared/models/audit-entry.ts';
import { printJson } from '../../shared/platform/raw-json.ts';
import type { RawJson } from '../../shared/platform/raw-json.ts';
import type { RequestState } from './context.ts';
import type { ErrorFormat } from './error-format.ts';
import type { Headers } from './headers.ts';
import { auditRequest } from './audit.ts';
import type { AuditDependencies } from './audit.ts';
import { runOnce } from './idempotency.ts';
import type { IdempotencyDependencies } from './idempotency.ts';
import type { Failures, JsonResponse, Responses, Security } from './responses.ts';
import { LecternError } from '../../shared/platform/errors.ts';

/**
 * Defines who may call an endpoint, and from where. The middleware runs inside the one that renders errors, before the
 * request is parsed. `identify` runs after path and query are parsed, for access that depends on them.
 */
interface AnyAccess<Deps, Caller, Params, Query> {
  security: Security;
  /** The headers of every response. */
  headers: Headers;
  /** The failures of every endpoint with this access. */
  failures: Failures;
  /** Whether the middleware responds to OPTIONS; `Allow` then lists it. */
  preflight: boolean;
  /** The middleware, in order: CORS, limits, authentication. @param methods of the path, for CORS: "GET, HEAD". */
  middleware(deps: Deps, methods: string): Middleware[];
  /** Returns the caller. @throws {LecternError} UNAUTHORIZED or FORBIDDEN. */
  identify(
    deps: Deps,
    request: { ctx: EndpointContext; params: Params; query: Query },
  ): Caller | Promise<Caller>;
  /**
   * Rejects callers without a permission, before the request is parsed.
   *
   * @throws {LecternError} FORBIDDEN
   */
  requireScope?: ((ctx: EndpointContext, scope: Permission) => void) | undefined;
}

/** Access for callers without permissions: learners, platforms, the public. */
export interface Access<Deps, Caller, Params = unknown, Query = unknown> extends AnyAccess<
  Deps,
  Caller,
  Params,
  Query
> {
  requireScope?: undefined;
}

/** Access with API credentials or a session. */
export interface ScopedAccess<Deps, Caller> extends AnyAccess<Deps, Caller, unknown, unknown> {
  requireScope: (ctx: EndpointContext, scope: Permission) => void;
}

/**
 * Makes the compiler require `scope` for endpoints whose callers have permissions, and reject it for others. Null admits
 * every user: to their own account.
 */
type ScopeDeclaration =
  | { access: { requireScope?: undefined }; scope?: undefined }
  | { access: Pick<ScopedAccess<never, unknown>, 'requireScope'>; scope: Permission | null };

/**
 * Makes the compiler require `audit` for endpoints that change something, or read learners' data or the audit log, so
 * that none is forgotten. Null keeps the endpoint's requests out of the log; a comment says why.
 */
type AuditDeclaration =
  | { method: 'get' | 'head'; scope?: Exclude<Permission, 'learners' | 'audit'> | null | undefined }
  | { audit: AuditAction | null };

export type EndpointContext = RouterContext<RequestState>;
export type Method = 'get' | 'head' | 'post' | 'put' | 'patch' | 'delete';

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
interface EndpointRequest<Caller, Params, Query, Body> {
  ctx: EndpointContext;
  caller: Caller;
  params: Params;
  query: Query;
  /** Reads the body; a handler calls it once. @throws as {@link RequestBody.read}. */
  readBody: () => Promise<Body>;
  /** The id for the object that the request creates; the same when it is repeated with its idempotency key. */
  newId: string;
}

/** The result of a handler that has written the response into the context: a stream, a page, a redirect. */
export const written = { kind: 'written' } as const;

/** A JSON value of type `T`, in which {@link RawJson} may replace any object or array. */
type Sendable<T> = T extends string | number | boolean | null | undefined
  ? T
  :
      | RawJson
      | (T extends readonly (infer Element)[] ? Sendable<Element>[] : { [K in keyof T]: Sendable<T[K]> });

/** The result of a handler: a documented status, with a body that fits its schema. */
export type Reply<Documented extends Responses> =
  | {
      [Status in keyof Documented]: Documented[Status] extends JsonResponse<infer Schema>
        ? { status: Status; body: Sendable<z.input<Schema>> }
        : Documented[Status] extends { kind: 'empty' }
          ? { status: Status }
          : never;
    }[keyof Documented]
  | typeof written;

interface EndpointDefinition<
  AccessDeps,
  ErrorDeps,
  Caller,
  Params,
  Query,
  Body,
  Documented extends Responses,
> {
  method: Method;
  /** The path in the syntax of @koa/router: "/api/lessons/:lessonId". */
  path: string;
  /** The path in the OpenAPI document, where `path` has a wildcard. */
  documentedPath?: string;
  access: AnyAccess<AccessDeps, Caller, NoInfer<Params>, NoInfer<Query>>;
  /** The permission that callers need: a scope of API credentials, which a user's role may have as well. */
  scope?: Permission | null | undefined;
  errors: ErrorFormat<ErrorDeps>;
  /** The security requirement in the OpenAPI document, if the handler itself checks credentials. */
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
  /**
   * The name under which the audit log records each successful request: `webhook.create`. The target is the id in the
   * path, or else the id in the response. See {@link AuditDeclaration}.
   */
  audit?: AuditAction | null;
  /**
   * Accepts an idempotency key. The handler first looks for an object with the id `newId`, which an earlier run may have
   * created, and otherwise creates the object under this id.
   */
  idempotent?: true;
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

/** The dependencies of every endpoint, in addition to those of its handler. */
export type EndpointDependencies = AuditDependencies & IdempotencyDependencies;

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
  createHandler(deps: Deps): (ctx: EndpointContext) => Promise<void>;
}

/**
 * Defines an endpoint. A request meets its parts in this order: the middleware of `access` (CORS, limits,
 * authentication), then `scope`, then `params` and `query`, then `access.identify`, then the handler, which reads the
 * body.
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
  definition: EndpointDefinition<AccessDeps, ErrorDeps, Caller, Params, Query, Body, Documented> &
    ScopeDeclaration &
    AuditDeclaration,
  handle: (
    deps: Deps,
  ) => (
    request: EndpointRequest<Caller, Params, Query, Body>,
  ) => Promise<Reply<Documented>> | Reply<Documented>,
): Endpoint<AccessDeps & ErrorDeps & Deps & EndpointDependencies> {
  const { params, query, body, access, audit, scope, idempotent, invalid = 'BAD_REQUEST' } = definition;
  const send = replySender(definition);
  return {
    ...(definition as unknown as Endpoint<AccessDeps & ErrorDeps & Deps & EndpointDependencies>),
    createHandler(deps) {
      const respond = handle(deps);
      return async (ctx) => {
        // With an unread body, closing the connection could cut the end of a long response.
        if (body === undefined && !ctx.req.complete) ctx.req.resume();
        if (scope) access.requireScope(ctx, scope);
        const parsed = {
          ctx,
          params: (params && parseRequest(params, ctx.params, invalid)) as Params,
          query: (query && parseRequest(query, ctx.query, invalid)) as Query,
        };
        const caller = await access.identify(deps, parsed);
        const read = () => {
          if (body?.read === undefined) throw new Error(`${definition.path} has no body to read`);
          return body.read(ctx);
        };
        const run = async (newId: string, readBody = read) => {
          const reply = await respond({ ...parsed, caller, readBody, newId });
          if (audit) await auditRequest(deps, ctx, audit, { ...parsed, reply });
          if ('status' in reply) send(ctx, reply);
        };
        if (idempotent === undefined) await run(randomUUID());
        else await runOnce(deps, ctx, definition, { ...parsed, read }, run);
      };
    },
  };
}

/** Returns the function that sends the replies of an endpoint's handler. */
function replySender({ responses }: Pick<Endpoint<never>, 'responses'>) {
  const headersOf = new Map(
    Object.entries(responses).map(([status, response]) => [Number(status), fixedHeaders(response)]),
  );
  return (ctx: Context, reply: { status: PropertyKey; body?: unknown }): void => {
    const status = Number(reply.status);
    ctx.status = status;
    ctx.set(headersOf.get(status) ?? {});
    if (reply.body === undefined) return;
    ctx.type = 'application/json';
    ctx.body = printJson(reply.body as Record<string, unknown>);
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

/** Parses path, query or body of a request. @throws {LecternError} `code`, with the text of the first fault. */
export function parseRequest<Schema extends z.ZodType>(
  schema: Schema,
  given: unknown,
  code: 'BAD_REQUEST' | 'INVALID_CONTENT',
): z.output<Schema> {
  const parsed = schema.safeParse(given);
  if (parsed.success) return parsed.data;
  throw new LecternError(code, parsed.error.issues[0]?.message ?? 'Invalid request');
}

/** Returns the error message for an unknown query parameter: the option `error` of `z.strictObject()`. */
export function unknownParameter({ code, keys }: { code?: string; keys?: string[] }): string | undefined {
  return code === 'unrecognized_keys' ? `${keys?.[0] ?? ''} is not a known parameter` : undefined;
}
