import { maxJsonDepth } from '../lessons/json-depth.ts';
import { quote } from '../lessons/quote.ts';

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
    return placed(text, scanner.position, error.message);
  }
}

/**
 * Finds what JSON.parse would change in a JSON text without a word: names that stand twice in an object, of which it
 * takes the last, and numbers that a double cannot keep.
 *
 * @param text has no fault.
 * @param most how many are looked for.
 */
export function findJsonLosses(text: string, most: number): JsonFault[] {
  const losses: JsonFault[] = [];
  const scanner = new Scanner(text, (message, position) => {
    losses.push(placed(text, position, message));
    return losses.length < most;
  });
  scanner.run();
  return losses;
}

function placed(text: string, position: number, message: string): JsonFault {
  const lineStart = position === 0 ? 0 : text.lastIndexOf('\n', position - 1) + 1;
  let line = 1;
  for (let at = text.indexOf('\n'); at !== -1 && at < position; at = text.indexOf('\n', at + 1)) line += 1;
  return { message, line, column: position - lineStart + 1 };
}

class Scanner {
  position = 0;
  #isEnough = false;
  readonly #text: string;
  readonly #open: ('{' | '[')[] = [];
  /** The names so far in each object that is open; undefined where none is looked at. */
  readonly #names: (Set<string> | undefined)[] = [];
  readonly #onLoss: ((message: string, position: number) => boolean) | undefined;

  /** @param onLoss is told of what is lost in parsing; false ends the scan. */
  constructor(text: string, onLoss?: (message: string, position: number) => boolean) {
    this.#text = text;
    this.#onLoss = onLoss;
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
      if (this.#isEnough) return;
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
      this.#names.push(undefined);
      if (this.#open.length > maxJsonDepth) throw new Fault(`nested deeper than ${maxJsonDepth} levels`);
      this.position += 1;
      return character === '{' ? 'name or end' : 'value or end';
    }
    const start = this.position;
    if (character === '"') this.#string();
    else {
      this.#word();
      if (this.#onLoss !== undefined) this.#checkNumber(start);
    }
    return this.#afterValue();
  }

  #name(character: string): Expected {
    if (character !== '"') throw new Fault('expected a name in double quotes');
    const start = this.position;
    this.#string();
    if (this.#onLoss !== undefined) this.#checkName(start);
    return 'colon';
  }

  #checkName(start: number): void {
    const written = this.#text.slice(start, this.position);
    const name = JSON.parse(written) as string;
    const last = this.#names.length - 1;
    const names = (this.#names[last] ??= new Set());
    if (names.has(name))
      this.#lose(`the name ${quote(name)} stands in its object before; the last one counts`, start);
    names.add(name);
  }

  #checkNumber(start: number): void {
    const written = this.#text.slice(start, this.position);
    const number = Number(written);
    if (Number.isNaN(number)) return;
    const isInteger = /^-?\d+$/.test(written);
    const isKept =
      Number.isFinite(number) &&
      !Object.is(number, -0) &&
      (number !== 0 || !/[1-9]/.test(written.replace(/e.*$/i, ''))) &&
      (!isInteger || String(number) === written || BigInt(written) === BigInt(number));
    if (!isKept) {
      const becomes = Number.isFinite(number) ? String(number) : 'null';
      this.#lose(
        `the number ${quote(written, 40)} becomes ${becomes}; write it as a string to keep it`,
        start,
      );
    }
  }

  #lose(message: string, position: number): void {
    this.#isEnough = this.#onLoss?.(message, position) === false;
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
    this.#names.pop();
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
