import { commonProps, coreWidgetFields } from '../../lessons/core-widget-fields.ts';
import { isCoreWidget } from '../../lessons/core-widgets.ts';
import { quote } from '../../lessons/json-values.ts';
import type { Field, Fields } from '../../lessons/widget-fields.ts';
import { nearestName } from '../../platform/unknown-names.ts';
import type { Attributes } from './parse.ts';

/** Returns the fields of a widget; none for a custom one. */
export function fieldsOf(type: string): Fields {
  return isCoreWidget(type) ? coreWidgetFields[type] : {};
}

export interface AttributeReader {
  /** Renders a text of one line as HTML. */
  toHtml: (text: string) => string;
  /** Returns the reference to a file by its path. */
  toMedia: (path: string) => string;
  /** Reports a fault of the attributes. */
  fault: (text: string) => void;
}

/** Props that widgets do not list. Import warns of points that a widget does not have. */
const otherFields: Fields = { points: { kind: 'number', label: 'Points' } };

/** Returns the props that attributes set. Names may be `partialCredit` or `partial-credit`. */
export function propsOf(
  type: string,
  attributes: Attributes,
  reader: AttributeReader,
): Record<string, unknown> {
  const fields = fieldsOf(type);
  // Lists and blocks are below the directive.
  const written = Object.keys(fields).filter(
    (name) => !['list', 'blocks'].includes(fields[name]?.kind ?? ''),
  );
  const known = [...written, ...commonProps, ...Object.keys(otherFields)];
  const props: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(attributes)) {
    const name = camelCase(key);
    if (known.includes(name)) props[name] = valueOf(fields[name] ?? otherFields[name], value, reader);
    else reader.fault(unknownAttribute(key, type, 'correct' in fields ? ['answer', ...known] : known));
  }
  return props;
}

export function unknownAttribute(written: string, type: string, known: readonly string[]): string {
  const nearest = nearestName(written, [...known], (name) => Math.min(2, name.length - 1));
  const hint = nearest === null ? '' : `; did you mean ${nearest}?`;
  return `${quote(written)} is no attribute of ${type}${hint}`;
}

export function camelCase(name: string): string {
  return name.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** @param field undefined for the props of every block */
function valueOf(field: Field | undefined, value: string, reader: AttributeReader): unknown {
  switch (field?.kind) {
    case 'html':
      return reader.toHtml(value);
    case 'text':
      return value;
    case 'choice':
      return field.choices.find((choice) => String(choice.value) === value)?.value ?? value;
    case 'captions':
    case 'image':
    case 'video':
    case 'audio':
      return isJson(value) ? withMedia(JSON.parse(value), reader) : reader.toMedia(value);
    case 'boolean':
      return value === '' || (isJson(value) ? (JSON.parse(value) as unknown) : value);
    case undefined:
      return /^[{[]/.test(value) && isJson(value) ? (JSON.parse(value) as unknown) : value;
    case 'number':
    case 'texts':
    case 'list':
    case 'object':
    case 'blocks':
      return isJson(value) ? (JSON.parse(value) as unknown) : value;
  }
}

/** Numbers, true, false, null, lists and objects. A text in quotation marks is a text with them. */
function isJson(value: string): boolean {
  if (!/^(?:[-\d[{]|true$|false$|null$)/.test(value)) return false;
  try {
    JSON.parse(value);
    return true;
  } catch {
    return false;
  }
}

/** Replaces the paths of a list of captions. */
function withMedia(value: unknown, reader: AttributeReader): unknown {
  if (!Array.isArray(value)) return value;
  return value.map((entry: unknown) => {
    const { src } = entry as { src?: unknown };
    return typeof src === 'string' ? { ...(entry as object), src: reader.toMedia(src) } : entry;
  });
}
