import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import type { mongo } from 'mongoose';
import type { LessonContent } from '../lessons/lesson-content.ts';

const compress = promisify(gzip);
const expand = promisify(gunzip);

/** MongoDB limits documents to 16 MB; a lesson may be larger, even compressed. */
const partBytes = 8 * 1024 ** 2;

/** A part as the driver returns it: a Binary or a Buffer, depending on how the document was read. */
interface ReadPart {
  data: Buffer | mongo.Binary;
}

/** Compresses a text into parts that each fit a document. */
export async function toGzipParts(text: string): Promise<Buffer[]> {
  return partsOf(await compress(text));
}

/** Divides a file into parts that each fit a document. */
export function partsOf(file: Buffer): Buffer[] {
  const parts: Buffer[] = [];
  for (let start = 0; start < file.length; start += partBytes) {
    parts.push(file.subarray(start, start + partBytes));
  }
  return parts;
}

/** Returns the text of all parts, in their order, as UTF-8. */
export function fromGzipParts(parts: ReadPart[]): Promise<Buffer> {
  return expand(fileOf(parts));
}

/** Returns the file of a content, in parts: a task may take as long as the content is large. */
export function contentParts(content: LessonContent): Promise<Buffer[]> {
  return toGzipParts(JSON.stringify(content));
}

/** Returns the content in these parts: a task may take as long as the content is large. */
export async function parseContent(parts: readonly Buffer[]): Promise<LessonContent> {
  return JSON.parse((await fromGzipParts(parts.map((data) => ({ data })))).toString('utf8')) as LessonContent;
}

/** Returns the file of all parts, in their order. */
export function fileOf(parts: ReadPart[]): Buffer {
  return Buffer.concat(parts.map(({ data }) => (Buffer.isBuffer(data) ? data : Buffer.from(data.buffer))));
}
