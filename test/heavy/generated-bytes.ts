import { createCipheriv, createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';

const pieceBytes = 64 * 1024;
const zeros = Buffer.alloc(pieceBytes);
const key = createHash('sha256').update('lectern heavy tests').digest();

/** The start of a PDF, the declared type. Among many thousands of files, some random bytes would look like another type. */
const pdfStart = Buffer.from('%PDF-1.7\n');

/** Yields the bytes of file number `index`: the start of a PDF, then an AES-256-CTR stream, incompressible and unique. */
export function* generateBytes(index: number, size: number): Generator<Buffer> {
  const counter = Buffer.alloc(16);
  counter.writeUInt32BE(index, 0);
  const cipher = createCipheriv('aes-256-ctr', key, counter);
  for (let left = size; left > 0; left -= pieceBytes) {
    const piece = cipher.update(left < pieceBytes ? zeros.subarray(0, left) : zeros);
    if (left === size) pdfStart.copy(piece);
    yield piece;
  }
}

/** What a file's bytes add up to. */
export interface Sums {
  size: number;
  sha256: string;
  crc32: number;
}

/** The sums of file number `index`, without keeping it. */
export function sumsOf(index: number, size: number): Sums {
  const hash = createHash('sha256');
  let checksum = 0;
  for (const piece of generateBytes(index, size)) {
    hash.update(piece);
    checksum = crc32(piece, checksum);
  }
  return { size, sha256: hash.digest('hex'), crc32: checksum };
}
