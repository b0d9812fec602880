/*
 * Splits JSON text into the text of its parts, so that Lectern can store and return JSON unchanged. JSON.parse would
 * change it: it reorders names that look like numbers, rounds large numbers and drops repeated names.
 *
 * All others require valid JSON (see `jsonFault`), and scan it once, without recursion.
 */

/**
 * Returns the text of each member's value in a JSON object, trimmed. A repeated name has its last value, as with
 * JSON.parse; `__proto__` has no special meaning.
 *
 * @throws {TypeError} if the text is not an object.
 */
export function objectMembers(text: string): Map<string, string> {
  const members = new Map<string, string>();
  let at = inside(text, '{');
  while (text.charAt(at) === '"') {
    const nameEnd = afterString(text, at);
    const start = afterSpace(text, afterSpace(text, nameEnd) + ':'.length);
    const end = afterValue(text, start);
    members.set(readName(text.slice(at, nameEnd)), text.slice(start, end));
    at = afterComma(text, end);
  }
  return members;
}

/** Returns the text of each element of a JSON array, trimmed. @throws {TypeError} if the text is not an array. */
export function arrayElements(text: string): string[] {
  const elements: string[] = [];
  let at = inside(text, '[');
  while (at < text.length && text.charAt(at) !== ']') {
    const end = afterValue(text, at);
    elements.push(text.slice(at, end));
    at = afterComma(text, end);
  }
  return elements;
}

/** The maximum of objects, arrays and members of objects in a text, which take time to parse. */
export const maxJsonParts = 60_000;
/** The maximum of commas outside strings. */
export const maxJsonCommas = 100_000;
export const maxJsonDigits = 1_000;

/**
 * Returns why a text is no JSON that may be parsed; undefined if it is. JSON.parse alone spends seconds and hundreds of
 * megabytes on a megabyte of brackets.
 */
export function jsonFault(text: string, maxDepth: number): 'syntax' | 'size' | undefined {
  const fault = structureFault(text, maxDepth);
  if (fault !== undefined) return fault;
  try {
    JSON.parse(text);
    return undefined;
  } catch {
    return 'syntax';
  }
}

/** Counts brackets, colons, commas, and the digits of each number, outside strings, in any text. */
function structureFault(text: string, maxDepth: number): 'syntax' | 'size' | undefined {
  let [depth, parts, commas, digits] = [0, 0, 0, 0];
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    digits = code >= zeroCode && code <= nineCode ? digits + 1 : 0;
    switch (code) {
      case quoteCode:
        at = afterString(text, at) - 1;
        break;
      case openObject:
      case openArray:
        depth += 1;
        parts += 1;
        break;
      case closeObject:
      case closeArray:
        depth -= 1;
        break;
      case colonCode:
        parts += 1;
        break;
      case commaCode:
        commas += 1;
    }
    if (depth > maxDepth) return 'syntax';
    if (parts > maxJsonParts || commas > maxJsonCommas || digits > maxJsonDigits) return 'size';
  }
  return undefined;
}

/** Returns a JSON object with these names and texts of values. */
export function objectText(members: Iterable<readonly [name: string, value: string]>): string {
  return `{${Array.from(members, ([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')}}`;
}

/** Returns a JSON array with these texts of elements. */
export function arrayText(elements: readonly string[]): string {
  return `[${elements.join(',')}]`;
}

/** Returns the position of the first name or element, or of the closing bracket. */
function inside(text: string, opening: '{' | '['): number {
  const start = afterSpace(text, 0);
  if (text.charAt(start) !== opening) throw new TypeError(`Expected JSON that begins with ${opening}`);
  return afterSpace(text, start + 1);
}

/** Returns the position of the next name or element after a value, or of the closing bracket. */
function afterComma(text: string, valueEnd: number): number {
  const at = afterSpace(text, valueEnd);
  return text.charAt(at) === ',' ? afterSpace(text, at + 1) : at;
}

function readName(source: string): string {
  return source.includes('\\') ? (JSON.parse(source) as string) : source.slice(1, -1);
}

function afterValue(text: string, start: number): number {
  const code = text.charCodeAt(start);
  if (code === quoteCode) return afterString(text, start);
  if (code === openObject || code === openArray) return afterContainer(text, start);
  // A number, true, false or null.
  let at = start + 1;
  while (at < text.length && !endsWord(text.charCodeAt(at))) at += 1;
  return at;
}

function endsWord(code: number): boolean {
  return code === commaCode || code === closeObject || code === closeArray || isSpace(code);
}

/** Counts both kinds of brackets together: in valid JSON, they match. */
function afterContainer(text: string, start: number): number {
  let depth = 0;
  let at = start;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code === quoteCode) {
      at = afterString(text, at);
      continue;
    }
    at += 1;
    if (code === openObject || code === openArray) depth += 1;
    else if ((code === closeObject || code === closeArray) && (depth -= 1) === 0) break;
  }
  return at;
}

/** Finds the closing quotation mark: the first one after an even number of backslashes. */
function afterString(text: string, start: number): number {
  let quote = text.indexOf('"', start + 1);
  while (quote !== -1) {
    let backslashes = 0;
    while (text.charCodeAt(quote - 1 - backslashes) === backslashCode) backslashes += 1;
    if (backslashes % 2 === 0) return quote + 1;
    quote = text.indexOf('"', quote + 1);
  }
  return text.length;
}

function afterSpace(text: string, start: number): number {
  let at = start;
  while (isSpace(text.charCodeAt(at))) at += 1;
  return at;
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}

const [quoteCode, commaCode, colonCode, backslashCode] = [0x22, 0x2c, 0x3a, 0x5c];
const [zeroCode, nineCode] = [0x30, 0x39];
const [openObject, closeObject, openArray, closeArray] = [0x7b, 0x7d, 0x5b, 0x5d];
