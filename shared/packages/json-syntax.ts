import { maxJsonDepth } from '../lessons/json-depth.ts';

export interface JsonFault {
  message: string;
  /** Counted from 1. */
  line: number;
  /** Counted from 1, in UTF-16 units. */
  column: number;
}

/** What may come next: a value, a name in an object (either may be an end instead, at first), or what follows them. */
type Expected = 'value' | 'value or end' | 'name' | 'name or end' | 'colon' | 'comma or end' | 'end of file';

class Fault extends Error {}

/**
 * Finds the first fault of a JSON text (RFC 8259), or nesting deeper than `maxJsonDepth`; undefined for a text that
 * JSON.parse accepts. It needs no stack to speak of, and so goes before JSON.parse: that one spends minutes and
 * gigabytes on millions of brackets, and does not say in which line a fault is.
 */
export function findJsonFault(text: string): JsonFault | undefined {
  const scanner = new Scanner(text);
  try {
    scanner.run();
    return undefined;
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    const before = text.slice(0, scanner.position);
    const lineStart = before.lastIndexOf('\n') + 1;
    let line = 1;
    for (let at = before.indexOf('\n'); at !== -1; at = before.indexOf('\n', at + 1)) line += 1;
    return { message: error.message, line, column: before.length - lineStart + 1 };
  }
}

class Scanner {
  position = 0;
  readonly #text: string;
  readonly #open: ('{' | '[')[] = [];

  constructor(text: string) {
    this.#text = text;
  }

  run(): void {
    let expected: Expected = 'value';
    for (;;) {
      this.#skipSpace();
      if (this.position === this.#text.length) {
        if (expected === 'end of file') return;
        throw new Fault('the file ends too early');
      }
      expected = this.#next(expected, this.#text.charAt(this.position));
    }
  }

  #next(expected: Expected, character: string): Expected {
    switch (expected) {
      case 'value':
        return this.#value(character);
      case 'value or end':
        return character === ']' ? this.#close() : this.#value(character);
      case 'name or end':
        return character === '}' ? this.#close() : this.#name(character);
      case 'name':
        return this.#name(character);
      case 'colon':
        if (character !== ':') throw new Fault("expected ':' after a name");
        this.position += 1;
        return 'value';
      case 'comma or end':
        return this.#commaOrEnd(character);
      case 'end of file':
        throw new Fault('expected nothing more after the end of the value');
    }
  }

  #value(character: string): Expected {
    if (character === '{' || character === '[') {
      this.#open.push(character);
      if (this.#open.length > maxJsonDepth) throw new Fault(`nested deeper than ${maxJsonDepth} levels`);
      this.position += 1;
      return character === '{' ? 'name or end' : 'value or end';
    }
    if (character === '"') this.#string();
    else this.#word();
    return this.#afterValue();
  }

  #name(character: string): Expected {
    if (character !== '"') throw new Fault('expected a name in double quotes');
    this.#string();
    return 'colon';
  }

  #commaOrEnd(character: string): Expected {
    const isObject = this.#open.at(-1) === '{';
    if (character === (isObject ? '}' : ']')) return this.#close();
    if (character !== ',') throw new Fault(`expected ',' or '${isObject ? '}' : ']'}'`);
    this.position += 1;
    return isObject ? 'name' : 'value';
  }

  #close(): Expected {
    this.#open.pop();
    this.position += 1;
    return this.#afterValue();
  }

  #afterValue(): Expected {
    return this.#open.length === 0 ? 'end of file' : 'comma or end';
  }

  /** true, false, null or a number. */
  #word(): void {
    const pattern = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
    pattern.lastIndex = this.position;
    if (!pattern.test(this.#text)) throw new Fault('expected a value');
    this.position = pattern.lastIndex;
  }

  #string(): void {
    const start = this.position;
    for (let at = start + 1; at < this.#text.length; at += 1) {
      const code = this.#text.charCodeAt(at);
      if (code === 0x22) {
        this.position = at + 1;
        return;
      }
      if (code < 0x20) {
        this.position = at;
        throw new Fault('line breaks and control characters in a string have to be escaped');
      }
      if (code === 0x5c) at = this.#escape(at);
    }
    throw new Fault('this string is not closed');
  }

  /** Returns the position of the escape's last character. */
  #escape(at: number): number {
    const pattern = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
    pattern.lastIndex = at;
    if (pattern.test(this.#text)) return pattern.lastIndex - 1;
    this.position = at;
    throw new Fault('unknown escape in a string');
  }

  #skipSpace(): void {
    while (' \t\n\r'.includes(this.#text.charAt(this.position)) && this.position < this.#text.length) {
      this.position += 1;
    }
  }
}
