import { Ajv2020 } from 'ajv/dist/2020.js';
import type { ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

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

  /** Returns the function that returns the faults of a value. */
  const faultsAt = (pointer: string[]) => {
    const path = pointer.map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1')));
    const validate = validatorOf(path.join('/'));
    return (value: unknown): string[] =>
      validate(value)
        ? []
        : (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
  };
  const faults = (pointer: string[], value: unknown) => faultsAt(pointer)(value);

  /** Returns the function that checks a response of an operation, which is kept: tests get many thousands of them. */
  const checkOf = (operation: string, status: string): ((answer: Answer) => string[]) => {
    const [method = '', path = ''] = operation.split(' ');
    const pointer = ['paths', path, method.toLowerCase(), 'responses', status];
    const response = document.paths[path]?.[method.toLowerCase()]?.responses[status];
    if (response === undefined) return () => ['is not documented'];
    const headers = Object.entries(response.headers).map(([name, given]) => {
      const key = given.$ref?.split('/').at(-1);
      const at = key === undefined ? [...pointer, 'headers', name] : ['components', 'headers', key];
      const { required = false } = (key === undefined ? given : document.components.headers[key]) ?? {};
      return { name, required, faultsOf: faultsAt([...at, 'schema']) };
    });
    const types = Object.keys(response.content ?? {});
    const isJson = types.includes('application/json');
    const bodyFaults = isJson ? faultsAt([...pointer, 'content', 'application/json', 'schema']) : () => [];
    return (answer) => {
      const found = headers.flatMap(({ name, required, faultsOf }) => {
        const value = answer.headers.get(name);
        if (value === null) return required ? [`lacks the header ${name}`] : [];
        return faultsOf(value).map((fault) => `has the header ${name}: ${fault}`);
      });
      // A response to HEAD has no body.
      if (answer.body.length === 0) return found;
      const type = answer.headers.get('content-type')?.split(';')[0] ?? '';
      if (!types.includes('*/*') && !types.includes(type)) found.push(`has the type ${type}`);
      if (!isJson || type !== 'application/json') return found;
      return [...found, ...bodyFaults(JSON.parse(answer.body.toString('utf8')))];
    };
  };

  const checks = new Map<string, (answer: Answer) => string[]>();
  /** Asserts that the document has this response of the operation: status, headers, type and body. */
  const expectDocumented = (operation: string, answer: Answer): void => {
    const key = `${operation} ${answer.status}`;
    const check = checks.get(key) ?? checkOf(operation, String(answer.status));
    checks.set(key, check);
    const found = check(answer);
    if (found.length > 0) throw new Error(`${key} ${found.join('; ')}: ${answer.body.toString()}`);
  };

  return { faults, expectDocumented };
}
