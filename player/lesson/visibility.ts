import { record } from '../props.ts';

/** The lesson's variables at one moment, by name. */
export type Variables = Readonly<Record<string, unknown>>;

/** The value of a variable; null for one that is not set. */
export function valueOf(variables: Variables, name: string): unknown {
  return (Object.hasOwn(variables, name) ? variables[name] : undefined) ?? null;
}

/**
 * Whether a block is shown: whether its `visibleIf`, `{variable, op, value}`, holds. A block without a condition
 * is shown, and so is one with a condition that cannot be read: an author's slip is not to hide a part of the
 * lesson for good.
 *
 * Values compare as numbers when both read as numbers, and else as text, as true and false, or as null. An answer
 * that is a list of one element, as one picked choice is, compares as that element; longer lists are equal when
 * they hold the same. `gt`, `gte`, `lt` and `lte` hold between two numbers or two texts only.
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

/** A number that was typed into a field, or written by an author in quotes, is that number. */
function fromText(text: string): Comparable {
  if (text === 'true' || text === 'false') return text === 'true';
  const number = Number(text);
  return text !== '' && Number.isFinite(number) ? number : text;
}

/** Below zero when `left` comes first; not a number for two that have no order. */
function difference(left: Comparable, right: Comparable): number {
  if (typeof left === 'number' && typeof right === 'number') return left - right;
  if (typeof left !== 'string' || typeof right !== 'string') return NaN;
  return left === right ? 0 : left < right ? -1 : 1;
}
