/** Characters that make up one text. */
const enough = 64 * 1024;

/** Many short texts as fewer long ones: what is done with each costs more than its characters do. */
export function* gatheredTexts(texts: Iterable<string>): Generator<string> {
  let some: string[] = [];
  let length = 0;
  for (const text of texts) {
    some.push(text);
    length += text.length;
    if (length < enough) continue;
    yield some.join('');
    some = [];
    length = 0;
  }
  if (length > 0) yield some.join('');
}
