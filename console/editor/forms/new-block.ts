import { coreWidgetFields } from '../../../shared/lessons/core-widget-fields.ts';
import { isCoreWidget } from '../../../shared/lessons/core-widgets.ts';
import type { Field, Fields } from '../../../shared/lessons/widget-fields.ts';

/** A block with a new id. */
export interface NewBlock {
  readonly type: string;
  readonly props: { readonly id: string; readonly [name: string]: unknown };
}

/** Entries of a new list: one alone would rarely make sense. */
const newEntries = 2;

/**
 * Makes a block to fill in: it has the required props, empty, and the question.
 *
 * @param fields the fields of a custom widget; null or missing without any
 */
export function newBlock(type: string, fields?: Fields | null): NewBlock {
  const known = fields ?? (isCoreWidget(type) ? coreWidgetFields[type] : {});
  return { type, props: { id: crypto.randomUUID(), ...newMembers(known) } };
}

/** Makes an entry of a list, or an object, to fill in: its required members are empty, and it has an id of its own. */
export function newMembers(fields: Fields): Record<string, unknown> {
  const members = Object.entries(fields).flatMap(([name, field]): [string, unknown][] => {
    if (field.isGenerated) return [];
    if (field.kind === 'text' && field.isId) return [[name, newPartId()]];
    const isStart = field.required || field.kind === 'choice' || name === 'prompt';
    const value = isStart ? emptyValue(field) : undefined;
    return value === undefined ? [] : [[name, value]];
  });
  return Object.fromEntries(members);
}

/** Returns an id that no other part of a question has. */
export function newPartId(): string {
  return crypto.randomUUID().slice(0, 8);
}

/** Returns the value of a field that waits for its author; undefined if it should be missing. */
export function emptyValue(field: Field): unknown {
  switch (field.kind) {
    case 'choice':
      return field.default ?? field.choices[0]?.value;
    case 'boolean':
      return true;
    case 'number':
      return undefined;
    case 'texts':
      return [];
    case 'blocks':
      return field.inColumns ? [[], []] : [];
    case 'list':
      // Gaps come from the text.
      return field.fields.answers === undefined
        ? Array.from({ length: newEntries }, () => newMembers(field.fields))
        : [];
    case 'object':
      return newMembers(field.fields);
    case 'text':
    case 'html':
    case 'image':
    case 'video':
    case 'audio':
    case 'captions':
      return '';
  }
}
