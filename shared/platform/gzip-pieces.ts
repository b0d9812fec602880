import { pipeline, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { createGunzip, createGzip } from 'node:zlib';

/** Compresses a text that comes in pieces. */
export function toGzip(texts: Iterable<string>): Promise<Buffer> {
  // Readers of the stream get the error; pipeline requires a callback.
  return buffer(pipeline(Readable.from(joinSmallTexts(texts)), createGzip(), () => undefined));
}

/** Decompresses the result of {@link toGzip} to UTF-8, in pieces. */
export function fromGzip(data: Buffer): AsyncIterable<Buffer> {
  return pipeline(Readable.from([data]), createGunzip(), () => undefined);
}

/** The minimum length of a joined text, in characters. */
const joinedLength = 64 * 1024;

/** Joins many short texts into fewer long ones, because each one has a cost beyond its length. */
export function* joinSmallTexts(texts: Iterable<string>): Generator<string> {
  let pending: string[] = [];
  let length = 0;
  for (const text of texts) {
    pending.push(text);
    length += text.length;
    if (length < joinedLength) continue;
    yield pending.join('');
    pending = [];
    length = 0;
  }
  if (length > 0) yield pending.join('');
}
