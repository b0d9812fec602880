import { objectText } from './json-text.ts';

/** A JSON text that stands for a value: printed as it is, so that no order of keys and no large number changes. */
export class RawJson {
  readonly text: string;

  /** @param text valid JSON. */
  constructor(text: string) {
    this.text = text;
  }
}

/** The JSON text of a body of type `Body`, printed already. */
export class PrintedJson<Body> extends RawJson {
  declare protected readonly body?: Body;

  static of<Body extends object>(body: Body): PrintedJson<Body> {
    return new PrintedJson<Body>(printJson(body as Record<string, unknown>));
  }
}

/** The raw JSON of a text that may be missing. */
export function rawOrNull(text: string | null): RawJson | null {
  return text === null ? null : new RawJson(text);
}

/** JSON.stringify of an object, some members of which are {@link RawJson}; members that are undefined are left out. */
export function printJson(object: Record<string, unknown>): string {
  const members = Object.entries(object).filter(([, value]) => value !== undefined);
  return objectText(
    members.map(([name, value]) => [name, value instanceof RawJson ? value.text : JSON.stringify(value)]),
  );
}
