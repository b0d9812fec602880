/**
 * JSON text cut into the source text of its parts. What is stored and given back as it came goes through here, for
 * JSON.parse would change it: it sorts names that look like numbers, rounds big numbers and drops repeated names.
 *
 * Every function takes text that is valid JSON already, as `findJsonFault` tells; of other text the result is
 * without meaning. Each goes through its text once, without recursion.
 */

/**
 * The source text of each member's value in a JSON object, without the whitespace around it. A name that is repeated
 * has its last value, as with JSON.parse; `__proto__` is a name like any other.
 *
 * @throws TypeError when the text is no object
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

/**
 * The source text of each element of a JSON array, without the whitespace around it.
 *
 * @throws TypeError when the text is no array
 */
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

/** A JSON object out of names and the source text of their values. */
export function objectText(members: Iterable<readonly [name: string, value: string]>): string {
  return `{${Array.from(members, ([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')}}`;
}

/** A JSON array out of the source text of its elements. */
export function arrayText(elements: readonly string[]): string {
  return `[${elements.join(',')}]`;
}

/** The position of the first name or element, or of the closing bracket. */
function inside(text: string, opening: '{' | '['): number {
  const start = afterSpace(text, 0);
  if (text.charAt(start) !== opening) throw new TypeError(`Expected JSON that begins with ${opening}`);
  return afterSpace(text, start + 1);
}

/** The position of what follows a value: of the next name or element, or of the closing bracket. */
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

/** Brackets of both kinds are counted alike: in valid JSON they close in the order they were opened. */
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

/** A quotation mark ends the string unless an odd number of backslashes stands before it. */
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

const [quoteCode, commaCode, backslashCode] = [0x22, 0x2c, 0x5c];
const [openObject, closeObject, openArray, closeArray] = [0x7b, 0x7d, 0x5b, 0x5d];
