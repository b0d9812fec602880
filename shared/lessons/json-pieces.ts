import { isContainer } from './json-values.ts';

/*
 * JSON in small pieces, so that the text of a lesson or of a manifest with 20,000 files is never in memory as a whole.
 * Values are JSON, or objects of JSON whose members may be undefined.
 */

/**
 * Yields the text of `JSON.stringify(value, null, 2)` and a line break.
 *
 * @param map replaces each part that comes in one piece.
 */
export function* prettyJson(value: unknown, map: (part: unknown) => unknown = same): Generator<string> {
  yield* pieces(value, { map, indent: '  ', colon: ': ' }, '\n');
  yield '\n';
}

/** Yields the text of `JSON.stringify(value)`. @param map as of {@link prettyJson}. */
export function compactJson(value: unknown, map: (part: unknown) => unknown = same): Generator<string> {
  return pieces(value, { map, indent: '', colon: ':' }, '');
}

const same = (part: unknown) => part;

interface Form {
  map: (part: unknown) => unknown;
  indent: string;
  /** Between a key and its value. */
  colon: string;
}

/** @param lineBreak a line break with the indentation of the value's first line. */
function* pieces(value: unknown, form: Form, lineBreak: string): Generator<string> {
  const { map, indent, colon } = form;
  // A value without nested lists and objects comes in one piece.
  if (!isContainer(value) || !Object.values(value).some(isContainer)) {
    yield JSON.stringify(map(value), null, indent).replaceAll('\n', lineBreak);
    return;
  }
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  let before = `${open}${lineBreak}${indent}`;
  for (const [key, member] of Object.entries(value)) {
    if (member === undefined) continue;
    yield Array.isArray(value) ? before : `${before}${JSON.stringify(key)}${colon}`;
    yield* pieces(member, form, `${lineBreak}${indent}`);
    before = `,${lineBreak}${indent}`;
  }
  yield `${lineBreak}${close}`;
}
