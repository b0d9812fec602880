import { pipeline, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { createGunzip, createGzip } from 'node:zlib';
import { gatheredTexts } from './gathered-texts.ts';

/** A text that comes in pieces, compressed. */
export function toGzip(texts: Iterable<string>): Promise<Buffer> {
  // A failure of the source reaches whoever reads; the callback is there because pipeline wants one.
  return buffer(pipeline(Readable.from(gatheredTexts(texts)), createGzip(), () => undefined));
}

/** The text that {@link toGzip} has compressed, in pieces, as UTF-8. */
export function fromGzip(data: Buffer): AsyncIterable<Buffer> {
  return pipeline(Readable.from([data]), createGunzip(), () => undefined);
}
