/* Writes the types of the client from the OpenAPI document, which follows from the schemas of the endpoints. */

/** The parts of a JSON schema that the document uses. */
interface Schema {
  $ref?: string;
  type?: string | string[];
  description?: string | undefined;
  const?: unknown;
  enum?: unknown[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
}

type Content = Record<string, { schema?: Schema }>;

interface Operation {
  operationId: string;
  summary?: string;
  security?: Record<string, string[]>[];
  parameters?: { in: string; name: string; required?: boolean; description?: string; schema: Schema }[];
  requestBody?: { content: Content };
  responses: Record<string, { content?: Content }>;
}

/** An OpenAPI document, as far as the client needs it. */
export interface ApiDocument {
  paths: Record<string, Record<string, Operation>>;
  webhooks: Record<string, { post: Operation }>;
  components: { schemas: Record<string, Schema> };
}

/** Returns the source of `src/api.ts`. It is not formatted. */
export function clientTypes({ paths, webhooks, components }: ApiDocument): string {
  const routes = routesOf(paths, isForCredentials);
  const events = Object.values(webhooks).map(({ post }) => typeOf(jsonOf(post.requestBody?.content) ?? {}));
  return [
    '/* Generated from the OpenAPI document by `npm run types -w clients/typescript`. */',
    ...declarations(`${routes.join('')}${events.join('')}`, components.schemas),
    `/** What each endpoint takes and returns. */\nexport interface Routes {${routes.join('')}}`,
    `/** An event that Lectern sends to webhooks. */\nexport type WebhookEvent = ${events.join(' | ')};`,
  ].join('\n\n');
}

/** Returns the source of `console/api-types.ts`: the client's endpoints, and those for sessions alone. */
export function consoleTypes({ paths, components }: ApiDocument): string {
  const isOwn = (operation: Operation, path: string) =>
    !isForCredentials(operation) && /^\/api\/(?!public\/)/.test(path);
  const routes = routesOf(paths, isOwn);
  return [
    '/* Generated from the OpenAPI document by `npm run types -w clients/typescript`. */',
    "import type { Routes as ClientRoutes } from '../clients/typescript/src/api.ts';",
    "export type * from '../clients/typescript/src/api.ts';",
    ...declarations(routes.join(''), components.schemas),
    `/** What each endpoint takes and returns. */\nexport interface Routes extends ClientRoutes {${routes.join('')}}`,
  ].join('\n\n');
}

function declarations(source: string, schemas: ApiDocument['components']['schemas']): string[] {
  return usedNames(source, schemas).map((name) => {
    const schema = schemas[name] ?? {};
    return `${comment(schema.description)}export type ${name} = ${typeOf(schema)};`;
  });
}

function isForCredentials({ security = [] }: Operation): boolean {
  return security.some((requirement) => 'credentials' in requirement);
}

function routesOf(
  paths: ApiDocument['paths'],
  isSelected: (operation: Operation, path: string) => boolean,
): string[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([, operation]) => isSelected(operation, path))
      .map(([method, operation]) => routeOf(`${method.toUpperCase()} ${path}`, operation)),
  );
}

function routeOf(route: string, { summary, parameters = [], requestBody, responses }: Operation): string {
  const given = (where: string): Schema => {
    const all = parameters.filter((parameter) => parameter.in === where);
    return {
      type: 'object',
      properties: Object.fromEntries(
        all.map(({ name, description, schema }) => [name, { description, ...schema }]),
      ),
      required: all.filter(({ required }) => required).map(({ name }) => name),
      additionalProperties: false,
    };
  };
  const body = jsonOf(requestBody?.content);
  const results = Object.entries(responses)
    .filter(([status]) => status.startsWith('2'))
    .map(([, { content }]) => jsonOf(content))
    .filter((schema) => schema !== undefined)
    .map(typeOf);
  return `${comment(summary)}${JSON.stringify(route)}: {
    params: ${typeOf(given('path'))};
    query: ${typeOf(given('query'))};
    body: ${body === undefined ? 'undefined' : typeOf(body)};
    result: ${results.length === 0 ? 'undefined' : [...new Set(results)].join(' | ')};
  };\n`;
}

function jsonOf(content: Content = {}): Schema | undefined {
  return content['application/json']?.schema;
}

/** Returns the schemas that a text names, and those that they name, in alphabetical order. */
function usedNames(text: string, schemas: ApiDocument['components']['schemas']): string[] {
  const used = new Set<string>();
  const visit = (commented: string) => {
    const source = commented.replaceAll(/\/\*\*.*?\*\//gs, '');
    for (const name of Object.keys(schemas)) {
      if (used.has(name) || !new RegExp(`\\b${name}\\b`).test(source)) continue;
      used.add(name);
      visit(typeOf(schemas[name] ?? {}));
    }
  };
  visit(text);
  return [...used].toSorted();
}

function typeOf(schema: Schema): string {
  const { $ref, type, anyOf, oneOf, items } = schema;
  if ($ref !== undefined) return $ref.replace('#/components/schemas/', '');
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  const choices = anyOf ?? oneOf;
  if (choices !== undefined) return `(${[...new Set(choices.map(typeOf))].join(' | ')})`;
  if (Array.isArray(type)) return `(${type.map((one) => typeOf({ ...schema, type: one })).join(' | ')})`;
  if (type === 'array') return `(${typeOf(items ?? {})})[]`;
  if (type === 'object') return objectOf(schema);
  if (type === 'integer') return 'number';
  return type ?? 'unknown';
}

function objectOf({ properties = {}, required = [], additionalProperties = {} }: Schema): string {
  const fields = Object.entries(properties).map(([name, schema]) => {
    const mark = required.includes(name) ? '' : '?';
    return `${comment(schema.description)}${JSON.stringify(name)}${mark}: ${typeOf(schema)};\n`;
  });
  if (fields.length > 0) return `{ ${fields.join('')} }`;
  if (additionalProperties === false) return 'Record<never, never>';
  return `Record<string, ${typeOf(additionalProperties === true ? {} : additionalProperties)}>`;
}

function comment(text: string | undefined): string {
  return text === undefined ? '' : `/** ${text.replaceAll('*/', '*∕').replaceAll('\n', ' ')} */\n`;
}
