import type { Block } from './block.ts';

/** Returns a value as an object with unknown fields; {} for anything else. */
export function record(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

/** Returns a trimmed string, or a number as text; '' for anything else. */
export function text(value: unknown): string {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' ? value.trim() : '';
}

/** Returns the blocks in an array; skips other values. */
export function blocks(value: unknown): Block[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((entry: unknown) => {
    const { type, props } = record(entry);
    return typeof type === 'string' ? [{ type, props: record(props) }] : [];
  });
}

/**
 * Returns a deep copy of a JSON value. `structuredClone` would reject the proxies of frameworks.
 *
 * @throws for values that are not JSON: undefined, functions, cycles
 */
export function jsonCopy<Value>(value: Value): Value {
  const text = JSON.stringify(value) as string | undefined;
  if (text === undefined) throw new Error('Not a JSON value');
  return JSON.parse(text) as Value;
}
