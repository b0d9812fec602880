import type { PageSchema } from './page-schema.ts';

/** The document, as far as the page tells of it; `createDocument` has resolved nothing that it needs. */
export interface PageDocument {
  info: { title: string; version: string; description?: string };
  servers?: { url: string }[];
  tags?: { name: string; description?: string }[];
  paths?: Record<string, Record<string, Operation>>;
  components?: Partial<Components>;
}

export interface Components {
  schemas: Record<string, PageSchema>;
  headers: Record<string, Header>;
  securitySchemes: Record<string, { description?: string }>;
}

export interface Operation {
  operationId: string;
  tags: string[];
  summary: string;
  description?: string;
  security?: Record<string, unknown>[];
  parameters?: Parameter[];
  requestBody?: { description?: string; content: Content };
  responses: Record<string, Response>;
  /** How to ask for it, where that is not plain from the rest. */
  'x-codeSamples'?: { lang: string; source: string }[];
}

/** An operation and where it is. */
export interface Endpoint extends Operation {
  method: string;
  path: string;
}

export interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  description?: string;
  schema: PageSchema;
}

export interface Response {
  description: string;
  headers?: Record<string, Header>;
  content?: Content;
}

export type Content = Record<string, { schema?: PageSchema; examples?: Record<string, Example> }>;

export interface Example {
  summary?: string;
  value: unknown;
}

export interface Header {
  $ref?: string;
  description?: string;
  required?: boolean;
}

/** The endpoints of a tag, in the order of the document. */
export function endpointsOf({ paths = {} }: PageDocument, tag: string): Endpoint[] {
  return Object.entries(paths)
    .flatMap(([path, item]) =>
      Object.entries(item).map(([method, operation]) => ({
        method: method.toUpperCase(),
        path,
        ...operation,
      })),
    )
    .filter(({ tags }) => tags.includes(tag));
}
