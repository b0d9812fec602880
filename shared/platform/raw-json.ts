import { objectText } from './json-text.ts';

/** A JSON text in place of a value; printed unchanged, so that key order and large numbers stay. */
export class RawJson {
  readonly text: string;

  /** @param text valid JSON. */
  constructor(text: string) {
    this.text = text;
  }
}

/** The JSON text of a body of type `Body`. */
export class PrintedJson<Body> extends RawJson {
  declare protected readonly body?: Body;

  static of<Body extends object>(body: Body): PrintedJson<Body> {
    return new PrintedJson<Body>(printJson(body as Record<string, unknown>));
  }
}

export function rawOrNull(text: string | null): RawJson | null {
  return text === null ? null : new RawJson(text);
}

/** Serializes an object, some of whose members may be {@link RawJson}; omits undefined members. */
export function printJson(object: Record<string, unknown>): string {
  return objectText(membersOf(object));
}

/** Yields the text of {@link printJson} in pieces: large texts are not copied. */
export function* jsonPieces(object: Record<string, unknown>): Generator<string> {
  let separator = '{';
  for (const [name, text] of membersOf(object)) {
    yield `${separator}${JSON.stringify(name)}:`;
    yield text;
    separator = ',';
  }
  yield separator === '{' ? '{}' : '}';
}

function membersOf(object: Record<string, unknown>): [name: string, text: string][] {
  const members = Object.entries(object).filter(([, value]) => value !== undefined);
  return members.map(([name, value]) => [
    name,
    value instanceof RawJson ? value.text : JSON.stringify(value),
  ]);
}
