import { record } from '../props.ts';

/** The values of the lesson's variables, by name. */
export type Variables = Readonly<Record<string, unknown>>;

/** Returns the value of a variable; null if it is not set. */
export function valueOf(variables: Variables, name: string): unknown {
  return (Object.hasOwn(variables, name) ? variables[name] : undefined) ?? null;
}

/**
 * Checks a block's `visibleIf`: `{variable, op, value}`. A missing condition shows the block, and so does an invalid
 * one: an author's mistake must not hide a part of the lesson forever.
 *
 * Values compare as numbers if both are numeric, otherwise as text, booleans or null. A list of one element, such as a
 * single selected choice, compares as that element; longer lists are equal if they have the same elements. `gt`, `gte`,
 * `lt` and `lte` are true only between two numbers or two texts.
 */
export function isVisible(condition: unknown, variables: Variables): boolean {
  const { variable, op, value } = record(condition);
  if (typeof variable !== 'string') return true;
  const left = comparable(valueOf(variables, variable));
  const right = comparable(value);
  switch (op) {
    case 'eq':
      return left === right;
    case 'ne':
      return left !== right;
    case 'gt':
      return difference(left, right) > 0;
    case 'gte':
      return difference(left, right) >= 0;
    case 'lt':
      return difference(left, right) < 0;
    case 'lte':
      return difference(left, right) <= 0;
    default:
      return true;
  }
}

type Comparable = number | string | boolean | null;

function comparable(value: unknown): Comparable {
  if (Array.isArray(value)) {
    const parts = (value as unknown[]).map(comparable);
    const [only = null] = parts;
    return parts.length === 1 ? only : JSON.stringify(parts.map(String).sort());
  }
  if (typeof value === 'number' || typeof value === 'boolean') return value;
  if (typeof value === 'string') return fromText(value.trim());
  return value === null || value === undefined ? null : JSON.stringify(value);
}

/** Reads text that a learner typed or an author quoted: numeric text is a number. */
function fromText(text: string): Comparable {
  if (text === 'true' || text === 'false') return text === 'true';
  const number = Number(text);
  return text !== '' && Number.isFinite(number) ? number : text;
}

/** Returns a negative number if `left` comes first; NaN for values without an order. */
function difference(left: Comparable, right: Comparable): number {
  if (typeof left === 'number' && typeof right === 'number') return left - right;
  if (typeof left !== 'string' || typeof right !== 'string') return NaN;
  return left === right ? 0 : left < right ? -1 : 1;
}
