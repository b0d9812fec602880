import { escapeHtml } from '../http/html.ts';
import { markdown } from './page-text.ts';

/** A JSON Schema, as far as the page tells of it. */
export interface PageSchema {
  $ref?: string;
  type?: string | string[];
  format?: string;
  description?: string;
  default?: unknown;
  const?: unknown;
  enum?: unknown[];
  pattern?: string;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  maxItems?: number;
  properties?: Record<string, PageSchema>;
  required?: string[];
  additionalProperties?: boolean | PageSchema;
  items?: PageSchema;
  anyOf?: PageSchema[];
}

interface Field {
  name: string;
  schema: PageSchema;
  required: boolean;
}

/** What is marked: in requests the fields that must be there, in answers those that need not. */
export type Marked = 'required' | 'optional';

/** A list of an object's fields; those of objects inside it follow as `outer.inner`, those of elements as `list[].inner`. */
export function fieldList(schema: PageSchema, marked: Marked): string {
  return definitionList(fieldsOf(schema, ''), marked);
}

export function definitionList(fields: readonly Field[], marked: Marked): string {
  return `<dl>${fields.map((field) => definition(field, marked)).join('')}</dl>`;
}

function definition({ name, schema, required }: Field, marked: Marked): string {
  const isMarked = required === (marked === 'required');
  const need = isMarked ? `<span class="mark ${marked}">${marked}</span>` : '';
  const rules = rulesOf(schema);
  const text = [schema.description, rules].filter(Boolean).join(' ');
  return (
    `<dt><code>${escapeHtml(name)}</code><span class="type">${typeText(schema)}</span>${need}</dt>` +
    `<dd>${text === '' ? '' : markdown(text)}</dd>`
  );
}

function fieldsOf(schema: PageSchema, prefix: string): Field[] {
  return Object.entries(schema.properties ?? {}).flatMap(([key, member]) => {
    const name = prefix + key;
    const required = schema.required?.includes(key) === true;
    return [{ name, schema: member, required }, ...fieldsInside(member, name)];
  });
}

function fieldsInside(schema: PageSchema, name: string): Field[] {
  if (schema.items !== undefined) return fieldsInside(schema.items, `${name}[]`);
  const [inner] = (schema.anyOf ?? [schema]).filter(({ properties }) => properties !== undefined);
  return inner === undefined ? [] : fieldsOf(inner, `${name}.`);
}

/** The name that a reference ends with: "Error" of "#/components/schemas/Error". */
export function referredName(reference: string): string {
  return reference.split('/').at(-1) ?? '';
}

/** What says more than "string". */
const formats: Record<string, string> = {
  uuid: 'UUID',
  'date-time': 'ISO 8601 time',
  email: 'e-mail address',
  jwt: 'JWT',
};

/** The type in words, with links to named schemas. */
export function typeText(schema: PageSchema): string {
  if (schema.$ref !== undefined) {
    const name = escapeHtml(referredName(schema.$ref));
    return `<a href="#schema-${name}">${name}</a>`;
  }
  if (schema.anyOf !== undefined) return schema.anyOf.map(typeText).join(' or ');
  if (schema.const !== undefined) return `<code>${escapeHtml(JSON.stringify(schema.const))}</code>`;
  if (schema.enum !== undefined) {
    return schema.enum.map((value) => `<code>${escapeHtml(JSON.stringify(value))}</code>`).join(' or ');
  }
  if (schema.items !== undefined) return `array of ${typeText(schema.items)}`;
  const { additionalProperties: values } = schema;
  if (typeof values === 'object' && values.items !== undefined) return `object of ${typeText(values)}`;
  const { format = '', type = 'any value' } = schema;
  const names = [type].flat().map((name) => (name === 'string' ? (formats[format] ?? name) : name));
  return escapeHtml(names.join(' or '));
}

/** Bounds and defaults, in words. */
function rulesOf(schema: PageSchema): string {
  const { minimum, maximum, minLength, maxLength, maxItems, pattern } = schema;
  const fallback = schema.default === undefined ? '' : `Default \`${JSON.stringify(schema.default)}\`.`;
  const bounds = [
    minimum !== undefined && maximum !== undefined && `${minimum} to ${maximum}.`,
    minimum !== undefined && maximum === undefined && minimum > 0 && `At least ${minimum}.`,
    maxLength !== undefined && `${minLength ?? 0} to ${maxLength} characters.`,
    maxItems !== undefined && `At most ${maxItems} elements.`,
    // Where there are words for it, they say more.
    pattern !== undefined && schema.description === undefined && `Pattern \`${pattern}\`.`,
  ];
  return [fallback, ...bounds].filter(Boolean).join(' ');
}
