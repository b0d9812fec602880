import type { Block } from './block.ts';

/** The value as an object whose fields can be asked for; an empty one for anything else. */
export function record(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

/** The value as text: a string trimmed, a number written out, anything else ''. */
export function text(value: unknown): string {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' ? value.trim() : '';
}

/** The blocks in the value: whatever in it is not a block is left out. */
export function blocks(value: unknown): Block[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((entry: unknown) => {
    const { type, props } = record(entry);
    return typeof type === 'string' ? [{ type, props: record(props) }] : [];
  });
}

/**
 * A deep copy of a JSON value. `structuredClone` would refuse what frameworks wrap in proxies.
 *
 * @throws for what JSON cannot hold: undefined, functions, cycles
 */
export function jsonCopy<Value>(value: Value): Value {
  const text = JSON.stringify(value) as string | undefined;
  if (text === undefined) throw new Error('Not a JSON value');
  return JSON.parse(text) as Value;
}
