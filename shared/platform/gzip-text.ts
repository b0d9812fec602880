import { promisify } from 'node:util';
import { constants, crc32, createInflateRaw, deflateRaw, deflateRawSync, inflateRaw } from 'node:zlib';
import type { InflateRaw } from 'node:zlib';
import { combineCrc32 } from './crc32-combine.ts';

const compress = promisify(deflateRaw);
const expand = promisify(inflateRaw);

/** Ends the compressed data at a byte, with no last block: other blocks may follow. */
const finishFlush = constants.Z_SYNC_FLUSH;

/** RFC 1952: magic number, DEFLATE, no flags, no time, unknown system. */
const header = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]);
/** An empty block that is the last one (RFC 1951, 3.2.4). */
const lastBlock = Buffer.from([1, 0, 0, 0xff, 0xff]);
const trailerBytes = 8;

/** Shorter pieces are stored: compressing one takes longer than sending it. */
const minCompressedBytes = 256;
/** Longer pieces are compressed in another thread. */
const maxSyncBytes = 32 * 1024;

/**
 * A constant text, compressed once. Responses that contain it copy its blocks, so nothing is compressed again: see
 * {@link joinGzip}.
 */
export class GzipText {
  /** The complete gzip file. */
  readonly file: Buffer;

  /** @param file as {@link GzipText.of} makes it: other gzip files end in a block that no other can follow. */
  constructor(file: Buffer) {
    this.file = file;
  }

  static async of(text: string | Buffer): Promise<GzipText> {
    const bytes = Buffer.from(text);
    const blocks = await compress(bytes, { level: constants.Z_BEST_COMPRESSION, finishFlush });
    const piece = { blocks, bytes: bytes.length, crc32: crc32(bytes) };
    return new GzipText(Buffer.concat([header, blocks, lastBlock, trailerOf(piece)]));
  }

  /** The size of the text in UTF-8. */
  get bytes(): number {
    return this.file.readUInt32LE(this.file.length - 4);
  }

  get crc32(): number {
    return this.file.readUInt32LE(this.file.length - trailerBytes);
  }

  get blocks(): Buffer {
    return this.file.subarray(header.length, this.file.length - lastBlock.length - trailerBytes);
  }

  /** Returns the text in UTF-8. */
  expand(): Promise<Buffer> {
    return expand(this.blocks, { finishFlush });
  }

  /** Returns the text in UTF-8 as a stream, which needs little memory. */
  stream(): InflateRaw {
    const stream = createInflateRaw({ finishFlush });
    stream.end(this.blocks);
    return stream;
  }
}

interface Piece {
  blocks: Buffer;
  bytes: number;
  crc32: number;
}

/** Returns the size of all texts in UTF-8. */
export function bytesOf(texts: readonly (Buffer | GzipText)[]): number {
  return texts.reduce((sum, text) => sum + (Buffer.isBuffer(text) ? text.length : text.bytes), 0);
}

/** Returns a gzip file of several texts, one after the other, in pieces. It compresses only the buffers among them. */
export async function joinGzip(texts: readonly (Buffer | GzipText)[]): Promise<Buffer[]> {
  const pieces = await Promise.all(
    texts.map((text): Promise<Piece> => (Buffer.isBuffer(text) ? pieceOf(text) : Promise.resolve(text))),
  );
  const whole = pieces.reduce(
    (before, { bytes, crc32: checksum }) => ({
      bytes: before.bytes + bytes,
      crc32: combineCrc32(before.crc32, checksum, bytes),
    }),
    { bytes: 0, crc32: 0 },
  );
  return [header, ...pieces.map(({ blocks }) => blocks), lastBlock, trailerOf(whole)];
}

async function pieceOf(text: Buffer): Promise<Piece> {
  const blocks = text.length >= minCompressedBytes ? await fastBlocks(text) : storedBlock(text);
  return { blocks, bytes: text.length, crc32: crc32(text) };
}

function fastBlocks(text: Buffer): Buffer | Promise<Buffer> {
  const options = { level: constants.Z_BEST_SPEED, finishFlush };
  return text.length > maxSyncBytes ? compress(text, options) : deflateRawSync(text, options);
}

/** Returns an uncompressed block (RFC 1951, 3.2.4). */
function storedBlock(text: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt16LE(text.length, 1);
  head.writeUInt16LE(~text.length & 0xffff, 3);
  return Buffer.concat([head, text]);
}

function trailerOf({ bytes, crc32: checksum }: Pick<Piece, 'bytes' | 'crc32'>): Buffer {
  const trailer = Buffer.alloc(trailerBytes);
  trailer.writeUInt32LE(checksum, 0);
  trailer.writeUInt32LE(bytes % 2 ** 32, 4);
  return trailer;
}
