import { printParseErrorCode, visit } from 'jsonc-parser';
import type { JSONVisitor } from 'jsonc-parser';
import { maxJsonDepth, quote } from './json-values.ts';

export interface JsonFault {
  message: string;
  /** Counted from 1. */
  line: number;
  /** Counted from 1, in UTF-16 units. */
  column: number;
}

class Fault extends Error {
  readonly offset: number;

  constructor(message: string, offset: number) {
    super(message);
    this.offset = offset;
  }
}

/**
 * Returns the first fault of a JSON text (RFC 8259), which includes nesting deeper than `maxJsonDepth`; undefined for a
 * text that JSON.parse accepts. Call it before JSON.parse, which spends seconds and hundreds of megabytes on a megabyte
 * of brackets and does not report the line of a fault.
 */
export function findJsonFault(text: string): JsonFault | undefined {
  try {
    scan(text, {});
    return undefined;
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return placed(text, error.offset, error.message);
  }
}

/**
 * Returns the parts of a JSON text that JSON.parse would silently change: repeated names in an object, of which it takes
 * the last, and numbers that a double cannot represent.
 *
 * @param text a text without faults
 * @param max the maximum number of results
 */
export function findJsonLosses(text: string, max: number): JsonFault[] {
  const losses: JsonFault[] = [];
  const lose = (message: string, offset: number) => {
    if (losses.length < max) losses.push(placed(text, offset, message));
  };
  /** The names so far in each open object. */
  const names: Set<string>[] = [];
  scan(text, {
    onObjectBegin: () => void names.push(new Set()),
    onObjectEnd: () => void names.pop(),
    onObjectProperty(name, offset) {
      if (names.at(-1)?.has(name) === true) {
        lose(`the name ${quote(name)} is repeated in its object; the last one counts`, offset);
      }
      names.at(-1)?.add(name);
    },
    onLiteralValue(value, offset, length) {
      if (typeof value !== 'number') return;
      const written = text.slice(offset, offset + length);
      if (isExact(written, value)) return;
      const becomes = Number.isFinite(value) ? String(value) : 'null';
      lose(`the number ${quote(written, 40)} becomes ${becomes}; write it as a string to keep it`, offset);
    },
  });
  return losses;
}

/** @throws {Fault} at the first fault; the depth limit ends the recursive scanner */
function scan(text: string, visitor: JSONVisitor): void {
  let depth = 0;
  const enter = (offset: number) => {
    depth += 1;
    if (depth > maxJsonDepth) throw new Fault(`nested deeper than ${maxJsonDepth} levels`, offset);
  };
  visit(
    text,
    {
      ...visitor,
      onObjectBegin(offset, ...rest) {
        enter(offset);
        visitor.onObjectBegin?.(offset, ...rest);
      },
      onArrayBegin: enter,
      onObjectEnd(...end) {
        depth -= 1;
        visitor.onObjectEnd?.(...end);
      },
      onArrayEnd() {
        depth -= 1;
      },
      onError(code, offset) {
        const message = messages[printParseErrorCode(code)] ?? 'expected a value';
        throw new Fault(offset >= text.length ? 'the file ends too early' : message, offset);
      },
    },
    { disallowComments: true },
  );
}

/** Messages by the parser's error names. */
const messages: Partial<Record<string, string>> = {
  InvalidSymbol: 'expected a value, or a name in double quotes',
  PropertyNameExpected: 'expected a name in double quotes',
  ColonExpected: "expected ':' after a name",
  CommaExpected: "expected ',' or the end of the object or array",
  CloseBraceExpected: "expected ',' or '}'",
  CloseBracketExpected: "expected ',' or ']'",
  EndOfFileExpected: 'expected nothing more after the end of the value',
  InvalidCommentToken: 'comments are not allowed',
  UnexpectedEndOfComment: 'comments are not allowed',
  UnexpectedEndOfString: 'this string is not closed in its line',
  UnexpectedEndOfNumber: 'this number is not complete',
  InvalidUnicode: 'unknown escape in this string',
  InvalidEscapeCharacter: 'unknown escape in this string',
  InvalidCharacter: 'control characters in this string must be escaped',
};

/** Checks whether a double represents the written number exactly. */
function isExact(written: string, number: number): boolean {
  const isInteger = /^-?\d+$/.test(written);
  return (
    Number.isFinite(number) &&
    !Object.is(number, -0) &&
    (number !== 0 || !/[1-9]/.test(written.replace(/e.*$/i, ''))) &&
    (!isInteger || String(number) === written || BigInt(written) === BigInt(number))
  );
}

function placed(text: string, position: number, message: string): JsonFault {
  const lineStart = position === 0 ? 0 : text.lastIndexOf('\n', position - 1) + 1;
  let line = 1;
  for (let at = text.indexOf('\n'); at !== -1 && at < position; at = text.indexOf('\n', at + 1)) line += 1;
  return { message, line, column: position - lineStart + 1 };
}
