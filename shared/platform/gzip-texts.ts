import { pipeline, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { createGunzip, createGzip } from 'node:zlib';

/** A text that comes in pieces, compressed. */
export function toGzip(texts: Iterable<string>): Promise<Buffer> {
  // A failure of the source reaches whoever reads; the callback is there because pipeline wants one.
  return buffer(pipeline(Readable.from(joinSmallTexts(texts)), createGzip(), () => undefined));
}

/** The text that {@link toGzip} has compressed, in pieces, as UTF-8. */
export function fromGzip(data: Buffer): AsyncIterable<Buffer> {
  return pipeline(Readable.from([data]), createGunzip(), () => undefined);
}

/** Characters that make up one text. */
const enough = 64 * 1024;

/** Many short texts as fewer long ones: what is done with each costs more than its characters do. */
export function* joinSmallTexts(texts: Iterable<string>): Generator<string> {
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
