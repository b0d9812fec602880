import { z } from 'zod';
import type {
  ZodOpenApiOperationObject,
  ZodOpenApiPathsObject,
  ZodOpenApiResponseObject,
  ZodOpenApiResponsesObject,
} from 'zod-openapi';
import { missingPermissionText, missingScopeText } from '../../shared/accounts/permissions.ts';
import type { Endpoint } from '../http/endpoint.ts';
import { faultTexts } from '../http/fault-texts.ts';
import { challenge, errorCode, retryAfterIfTemporary, retryAfter } from '../http/headers.ts';
import type { Headers } from '../http/headers.ts';
import { idempotencyFailures, idempotencyKey, replayed } from '../http/idempotency.ts';
import { crossSiteWrite } from '../http/middleware/csrf.ts';
import { failure } from '../http/responses.ts';
import type { Failure, Failures, Responses, Security } from '../http/responses.ts';

/** An endpoint with any dependencies. */
type AnyEndpoint = Endpoint<never>;

/** Returns the paths of the OpenAPI document. */
export function pathsOf(endpoints: readonly AnyEndpoint[]): ZodOpenApiPathsObject {
  const paths: Record<string, Record<string, ZodOpenApiOperationObject>> = {};
  for (const endpoint of endpoints) {
    const path = (endpoint.documentedPath ?? endpoint.path).replace(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [endpoint.method]: operationOf(endpoint) };
  }
  return paths;
}

function operationOf(endpoint: AnyEndpoint): ZodOpenApiOperationObject {
  const { operationId, tag, summary, description, sample, access, body } = endpoint;
  const headers = requestHeaders(endpoint);
  const query = endpoint.query ?? endpoint.laterQuery;
  const path = pathSchema(endpoint);
  return {
    operationId,
    tags: [tag],
    summary,
    ...(description !== undefined && { description }),
    ...(sample !== undefined && { 'x-codeSamples': [{ lang: 'Shell', source: sample.join('\n') }] }),
    security: (endpoint.security ?? access.security).map((requirement) => addScope(requirement, endpoint)),
    ...((path ?? query ?? headers) !== undefined && {
      requestParams: {
        ...(path !== undefined && { path }),
        ...(query !== undefined && { query: query as z.ZodObject }),
        ...(headers !== undefined && { header: headers }),
      },
    }),
    ...(body !== undefined && {
      requestBody: {
        required: true,
        description: body.description,
        content: {
          [body.contentType]: {
            schema: body.schema,
            ...(Object.keys(body.examples).length > 0 && { examples: body.examples }),
          },
        },
      },
    }),
    responses: responsesOf(endpoint),
  };
}

function requestHeaders({ headers, idempotent }: AnyEndpoint): z.ZodObject | undefined {
  if (idempotent === undefined) return headers;
  return (headers ?? z.strictObject({})).extend({ 'Idempotency-Key': idempotencyKey });
}

/** Adds the endpoint's permission to a requirement of API credentials or of a session. */
function addScope(requirement: Security[number], { scope }: AnyEndpoint): Security[number] {
  if (!scope) return requirement;
  return Object.fromEntries(Object.keys(requirement).map((scheme) => [scheme, [scope]]));
}

function pathSchema({ params, laterParams }: AnyEndpoint): z.ZodObject | undefined {
  if (params === undefined) return laterParams;
  return laterParams === undefined
    ? (params as z.ZodObject)
    : (params as z.ZodObject).extend(laterParams.shape);
}

function responsesOf(endpoint: AnyEndpoint): ZodOpenApiResponsesObject {
  const { access, errors, responses, idempotent } = endpoint;
  const ofSuccess = { ...access.headers, ...(idempotent && replayed) };
  const described = Object.entries(responses)
    .filter(([, response]) => response.kind !== 'failure')
    .map(([status, response]) => [
      status,
      describe(response as Exclude<Responses[number], Failure>, {
        ...ofSuccess,
        ...(Number(status) >= 400 && errorCode),
      }),
    ]);
  const failed = Object.entries(failuresOf(endpoint))
    // Such a failure is a page, which the endpoint describes itself.
    .filter(([status]) => responses[Number(status)]?.kind !== 'written')
    .map(([status, { when, texts, codes, headers }]) => [
      status,
      {
        description: when,
        headers: z.object({ ...access.headers, ...errorCode, ...headersOf[status], ...headers }),
        content: errors.content(Number(status), texts, codes),
      },
    ]);
  return Object.fromEntries([...described, ...failed]) as ZodOpenApiResponsesObject;
}

function describe(response: Exclude<Responses[number], Failure>, common: Headers): ZodOpenApiResponseObject {
  const content =
    response.kind === 'json'
      ? {
          'application/json': { schema: response.schema, examples: response.examples },
          ...response.alternatives,
        }
      : response.kind === 'written'
        ? response.content
        : undefined;
  return {
    description: response.description,
    headers: z.object({ ...common, ...response.headers }),
    ...(content !== undefined && { content }),
  };
}

/** Returns all failures of an endpoint: of access, parsing, the server and the handler. */
function failuresOf(endpoint: AnyEndpoint): Record<string, Failure> {
  const { access, errors, body, params, laterParams, query, invalid, idempotent, responses } = endpoint;
  const invalidStatus = invalid === 'INVALID_CONTENT' ? 422 : 400;
  const invalidTexts = faultTexts(params, query, laterParams);
  const own = Object.fromEntries(
    Object.entries(responses).filter(([, response]) => response.kind === 'failure'),
  ) as Failures;
  return merge(
    access.failures,
    idempotent ? idempotencyFailures : {},
    forbidden(endpoint),
    body?.failures ?? {},
    invalidTexts.length === 0
      ? {}
      : { [invalidStatus]: failure('A parameter is missing or invalid.', ...invalidTexts) },
    errors.unexpected === null ? {} : { 500: failure('Something failed on the server.', errors.unexpected) },
    own,
  );
}

/** Returns the 403 of callers who lack the permission, and of pages of other sites that send a user's session. */
function forbidden({ access, scope, method }: AnyEndpoint): Failures {
  if (access.requireScope === undefined) return {};
  const takesKeys = access.security.some((requirement) => 'credentials' in requirement);
  const texts = [
    ...(scope && takesKeys ? [missingScopeText(scope)] : []),
    ...(scope ? [missingPermissionText(scope)] : []),
    ...(method === 'get' || method === 'head' ? [] : crossSiteWrite.texts),
  ];
  if (texts.length === 0) return {};
  const when = scope
    ? `The credentials or the user's role lack the permission \`${scope}\`.`
    : crossSiteWrite.when;
  return { 403: { ...failure(when, ...texts), codes: codesOf(texts) } };
}

/** A 403 of exports has another code. */
function codesOf(texts: readonly string[]): Failure['codes'] {
  return Object.fromEntries(texts.map((text) => [text, 'FORBIDDEN']));
}

/** Merges failures by status: their texts add up, and the last description counts. */
function merge(...all: readonly Failures[]): Record<string, Failure> {
  const merged: Record<string, Failure> = {};
  for (const [status, given] of all.flatMap((failures) =>
    Object.entries(failures as Record<string, Failure>),
  )) {
    const before = merged[status];
    merged[status] = {
      ...before,
      ...given,
      texts: [...new Set([...(before?.texts ?? []), ...given.texts])],
      codes: { ...before?.codes, ...given.codes },
    };
  }
  return merged;
}

/** Headers of a status, whichever endpoint returns it. */
const headersOf: Partial<Record<string, Headers>> = {
  401: challenge,
  429: retryAfter,
  500: retryAfterIfTemporary,
};
