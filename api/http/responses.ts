import type {
  ZodOpenApiContentObject,
  ZodOpenApiExamplesObject,
  ZodOpenApiOperationObject,
} from 'zod-openapi';
import { z } from 'zod';
import type { ErrorCode } from '../../shared/platform/errors.ts';
import type { Headers } from './headers.ts';

/* Schemas that bodies of several features share. */
export const uuid = z.guid();
export const time = z.iso.datetime();
export const count = z.int().min(0);
export const jsonObject = z.record(z.string(), z.unknown());

/** The security requirement of an OpenAPI operation. */
export type Security = NonNullable<ZodOpenApiOperationObject['security']>;

/** Documents an error status: its cause, and its texts. */
export interface Failure {
  kind: 'failure';
  when: string;
  texts: readonly string[];
  /** The codes of texts whose code does not follow from the status. */
  codes?: Readonly<Record<string, ErrorCode>>;
  headers?: Headers;
}

export type Failures = Readonly<Partial<Record<number, Failure>>>;

/** Returns a failure. @param texts its messages, except those of schemas and of the error format. */
export function failure(when: string, ...texts: string[]): Failure {
  return { kind: 'failure', when, texts };
}

/** A JSON body. Headers with a literal schema are sent automatically; the handler sets the others. */
export interface JsonResponse<Schema extends z.ZodType = z.ZodType> {
  kind: 'json';
  description: string;
  schema: Schema;
  examples: ZodOpenApiExamplesObject;
  headers?: Headers;
  /** Further media types, which the handler writes itself. */
  alternatives?: ZodOpenApiContentObject;
}

/** Returns a response in JSON. @param examples by a short name. */
export function json<Schema extends z.ZodType>(
  description: string,
  schema: Schema,
  examples: ZodOpenApiExamplesObject,
  headers: Headers = {},
): JsonResponse<Schema> {
  return { kind: 'json', description, schema, examples, headers };
}

/** A status without a body. */
export interface EmptyResponse {
  kind: 'empty';
  description: string;
  headers?: Headers;
}

export function empty(description: string, headers: Headers = {}): EmptyResponse {
  return { kind: 'empty', description, headers };
}

/** A response that the handler writes itself: a file, a page, an event stream. */
export interface WrittenResponse {
  kind: 'written';
  description: string;
  /** By media type. */
  content: ZodOpenApiContentObject;
  headers?: Headers;
}

export type Responses = Readonly<
  Record<number, JsonResponse<z.ZodType> | EmptyResponse | WrittenResponse | Failure>
>;
