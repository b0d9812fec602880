import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import type { mongo } from 'mongoose';

const compress = promisify(gzip);
const expand = promisify(gunzip);

/** MongoDB limits documents to 16 MB; a lesson may be larger, even compressed. */
const partBytes = 8 * 1024 ** 2;

/** Compresses a text into parts that each fit a document. */
export async function toGzipParts(text: string): Promise<Buffer[]> {
  const data = await compress(text);
  const parts: Buffer[] = [];
  for (let start = 0; start < data.length; start += partBytes) {
    parts.push(data.subarray(start, start + partBytes));
  }
  return parts;
}

/** Returns the text of all parts, in their order, as UTF-8. */
export function fromGzipParts(parts: { data: Buffer | mongo.Binary }[]): Promise<Buffer> {
  // The driver returns a Binary or a Buffer, depending on how the document was read.
  return expand(
    Buffer.concat(parts.map(({ data }) => (Buffer.isBuffer(data) ? data : Buffer.from(data.buffer)))),
  );
}
