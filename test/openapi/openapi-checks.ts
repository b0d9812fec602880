import { Ajv2020 } from 'ajv/dist/2020.js';
import type { ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { expect } from 'vitest';

/** A response of the API, read to its end. */
export interface Answer {
  status: number;
  headers: Headers;
  body: Buffer;
}

/** The parts of an OpenAPI document that tests read. */
export interface Document {
  openapi: string;
  info: { version: string };
  servers: { url: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: { headers: Record<string, Header>; securitySchemes: Record<string, { name?: string }> };
}

export interface Operation {
  operationId: string;
  tags: string[];
  summary: string;
  security: Record<string, string[]>[];
  parameters?: { name: string; description?: string }[];
  requestBody?: { content: Content };
  responses: Record<string, { headers: Record<string, Header>; content?: Content }>;
}

type Content = Record<string, { schema: object; examples?: Record<string, { value: unknown }> }>;

interface Header {
  $ref?: string;
  required?: boolean;
  schema: object;
}

/** Validates values against parts of a document, which a JSON pointer names. */
export function createChecker(document: Document) {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  // The package is CommonJS, and its types say otherwise.
  (addFormats as unknown as (target: Ajv2020) => void)(ajv);
  ajv.addFormat('jwt', /^[\w-]+\.[\w-]+\.[\w-]+$/);
  ajv.addSchema(document, 'api');

  const validators = new Map<string, ValidateFunction>();
  const validatorOf = (path: string): ValidateFunction => {
    const validate = validators.get(path) ?? ajv.compile({ $ref: `api#/${path}` });
    validators.set(path, validate);
    return validate;
  };

  /** Returns the faults of a value. */
  const faults = (pointer: string[], value: unknown): string[] => {
    const path = pointer.map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1')));
    const validate = validatorOf(path.join('/'));
    validate(value);
    return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
  };

  /** Asserts that the document has this response of the operation: status, headers, type and body. */
  const expectDocumented = (operation: string, answer: Answer): void => {
    const [method = '', path = ''] = operation.split(' ');
    const status = String(answer.status);
    const pointer = ['paths', path, method.toLowerCase(), 'responses', status];
    const response = document.paths[path]?.[method.toLowerCase()]?.responses[status];
    if (response === undefined) {
      throw new Error(`${operation} answered ${status}, which is not documented: ${answer.body.toString()}`);
    }
    for (const [name, given] of Object.entries(response.headers)) {
      const key = given.$ref?.split('/').at(-1);
      const header = key === undefined ? given : document.components.headers[key];
      const at = key === undefined ? [...pointer, 'headers', name] : ['components', 'headers', key];
      const value = answer.headers.get(name);
      if (value === null)
        expect({ name, required: header?.required ?? false }).toEqual({ name, required: false });
      else expect({ name, faults: faults([...at, 'schema'], value) }).toEqual({ name, faults: [] });
    }
    const type = answer.headers.get('content-type')?.split(';')[0] ?? '';
    const types = Object.keys(response.content ?? {});
    if (answer.body.length > 0) expect(types).toContain(types.includes('*/*') ? '*/*' : type);
    // A response to HEAD has no body.
    if (type !== 'application/json' || !types.includes(type) || answer.body.length === 0) return;
    const body: unknown = JSON.parse(answer.body.toString('utf8'));
    expect({
      operation,
      status,
      faults: faults([...pointer, 'content', type, 'schema'], body),
      body,
    }).toEqual({
      operation,
      status,
      faults: [],
      body,
    });
  };

  return { faults, expectDocumented };
}
