import { objectText } from './json-text.ts';

/** A JSON text in place of a value; printed unchanged, so that key order and large numbers stay. */
export class RawJson {
  readonly text: string;

  /** @param text valid JSON. */
  constructor(text: string) {
    this.text = text;
  }
}

export function rawOrNull(text: string | null): RawJson | null {
  return text === null ? null : new RawJson(text);
}

/** Serializes an object, some of whose members may be {@link RawJson}; omits undefined members. */
export function printJson(object: Record<string, unknown>): string {
  return objectText(definedMembers(object).map(([name, value]) => [name, textOf(value)]));
}

/** Yields the text of {@link printJson} in pieces. Members may also be the bytes of JSON texts, which are not copied. */
export function* jsonPieces(object: Record<string, unknown>): Generator<string | Uint8Array> {
  let separator = '{';
  for (const [name, value] of definedMembers(object)) {
    yield `${separator}${JSON.stringify(name)}:`;
    yield value instanceof Uint8Array ? value : textOf(value);
    separator = ',';
  }
  yield separator === '{' ? '{}' : '}';
}

function definedMembers(object: Record<string, unknown>): [name: string, value: unknown][] {
  return Object.entries(object).filter(([, value]) => value !== undefined);
}

function textOf(value: unknown): string {
  return value instanceof RawJson ? value.text : JSON.stringify(value);
}
