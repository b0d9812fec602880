/**
 * The text of `JSON.stringify(value, null, 2)` and a line break, in small pieces: a lesson or a manifest of 100,000
 * files is never in memory as one text beside its bytes.
 *
 * @param value JSON, or an object of such whose members may be undefined.
 * @param map what is written in the place of each part that comes in one piece.
 */
export function* prettyJson(value: unknown, map: (part: unknown) => unknown = same): Generator<string> {
  yield* pieces(value, map, '\n');
  yield '\n';
}

const same = (part: unknown) => part;

/** @param lineBreak with the indentation of the line that the value begins on. */
function* pieces(value: unknown, map: (part: unknown) => unknown, lineBreak: string): Generator<string> {
  // What holds no further list or object comes in one piece.
  if (!isNested(value) || !Object.values(value).some(isNested)) {
    yield JSON.stringify(map(value), null, 2).replaceAll('\n', lineBreak);
    return;
  }
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  let before = `${open}${lineBreak}  `;
  for (const [key, member] of Object.entries(value)) {
    if (member === undefined) continue;
    yield Array.isArray(value) ? before : `${before}${JSON.stringify(key)}: `;
    yield* pieces(member, map, `${lineBreak}  `);
    before = `,${lineBreak}  `;
  }
  yield `${lineBreak}${close}`;
}

function isNested(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
