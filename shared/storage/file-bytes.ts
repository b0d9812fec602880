import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { bytesOf } from './digest.ts';
import type { Digest, OpenFile } from './store.ts';

/** Bytes per read: most pictures in one read, and little memory for many readers. */
export const readBytes = 512 * 1024;

/** Bytes per read of a file that is sent, and of one among many others, so that slow clients take little memory. */
const sendBytes = 512 * 1024;
const crowdedSendBytes = 64 * 1024;

/** The number of files that are sent at once with large reads. */
const maxLargeSends = 32;

/** Bytes per write: each write is a task of the thread pool, which costs more than the bytes. */
const writeBytes = 512 * 1024;

/** A draft is synced each time it has grown by this many bytes. */
const syncBytes = 16 * 1024 ** 2;

/**
 * The number of chunks that are joined into one. As objects, tiny chunks take a hundred times the memory of their
 * bytes.
 */
const joinedChunks = 64;

/**
 * Writes all bytes of a source to a new file. Returns their digests, and all chunks if the file is small enough for one
 * write.
 *
 * @param beforeWrite is called before each write; its error ends the file.
 */
export async function writeSource(
  handle: FileHandle,
  source: AsyncIterable<Uint8Array>,
  beforeWrite?: () => Promise<void> | undefined,
): Promise<{ digest: Digest; small: readonly Uint8Array[] | undefined }> {
  const hash = createHash('sha256');
  let checksum = 0;
  let size = 0;
  let small: readonly Uint8Array[] | undefined = [];
  for await (const chunks of gather(source, writeBytes)) {
    small = size === 0 ? chunks : undefined;
    for (const chunk of chunks) {
      hash.update(chunk);
      checksum = crc32(chunk, checksum);
      size += chunk.byteLength;
    }
    await beforeWrite?.();
    await writeFully(handle, chunks);
  }
  return { digest: { sha256: hash.digest('hex'), crc32: checksum, size }, small };
}

/** Groups the chunks of a source into batches of about `bytes`. */
async function* gather(source: AsyncIterable<Uint8Array>, bytes: number): AsyncGenerator<Uint8Array[]> {
  let chunks: Uint8Array[] = [];
  let joined = 0;
  let gathered = 0;
  for await (const chunk of source) {
    chunks.push(chunk);
    gathered += chunk.byteLength;
    if (chunks.length - joined === joinedChunks) {
      chunks.push(Buffer.concat(chunks.splice(joined)));
      joined += 1;
    }
    if (gathered < bytes) continue;
    yield chunks;
    chunks = [];
    joined = 0;
    gathered = 0;
  }
  if (gathered > 0) yield chunks;
}

/** Writes all chunks, one after the other, or throws. */
export async function writeFully(handle: FileHandle, chunks: readonly Uint8Array[]): Promise<void> {
  const bytes = chunks.reduce((sum, chunk) => sum + chunk.byteLength, 0);
  const { bytesWritten } = await handle.writev([...chunks]);
  if (bytesWritten === bytes) return;
  // A nearly full disk accepts a part; writing the rest then fails with the reason.
  const rest = Buffer.concat(chunks).subarray(bytesWritten);
  for (let written = 0; written < rest.byteLength;) {
    written += (await handle.write(rest, written)).bytesWritten;
  }
}

/** Writes a file, and syncs what is written while more follows, so that the sync at the end is short. */
export class EarlySyncWriter {
  readonly #handle: FileHandle;
  #unsyncedBytes = 0;
  #syncing: Promise<void> = Promise.resolve();

  constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  async write(chunks: readonly Uint8Array[]): Promise<void> {
    await writeFully(this.#handle, chunks);
    for (const chunk of chunks) this.#unsyncedBytes += chunk.byteLength;
    if (this.#unsyncedBytes < syncBytes) return;
    await this.#syncing;
    this.#unsyncedBytes = 0;
    this.#syncing = this.#handle.datasync();
    // Its error is thrown when it is awaited.
    this.#syncing.catch(() => undefined);
  }

  /** Waits for the last early sync. Throws its error, because the system reports it to no later sync. */
  synced(): Promise<void> {
    return this.#syncing;
  }
}

interface Part {
  start: number;
  end: number;
  /** The size of the whole file. */
  size: number;
}

/**
 * Reads an open file from `start` up to but not including `end`. The reader owns the chunks.
 *
 * @param name of the file, for the error when it ends before `end`.
 */
export async function* readChunks(handle: FileHandle, name: string, part: Part): AsyncGenerator<Uint8Array> {
  const fill = reader(handle, name, part);
  for (let position = part.start; position < part.end;) {
    const chunk = await fill(Buffer.allocUnsafeSlow(Math.min(readBytes, part.end - position)), position);
    position += chunk.byteLength;
    yield chunk;
  }
}

/**
 * Reads a small file and closes it. Returns null, and leaves it open, if its size is not as expected, or one read does not
 * return all of it.
 */
export async function readAndClose(handle: FileHandle, expectedBytes: number): Promise<Uint8Array | null> {
  // A larger file fills one byte more.
  const buffer = Buffer.allocUnsafeSlow(expectedBytes + 1);
  const { bytesRead } = await handle.read(buffer, 0, buffer.byteLength, 0).catch(async (error: unknown) => {
    await handle.close();
    throw error;
  });
  if (bytesRead !== expectedBytes) return null;
  await handle.close();
  return buffer.subarray(0, bytesRead);
}

/** Returns the open file of bytes that were read already. */
export function fileInMemory(bytes: Uint8Array, proxySource: OpenFile['proxySource']): OpenFile {
  return {
    size: bytes.byteLength,
    chunks: (start, end) => bytesOf(bytes.subarray(start, end)),
    send: (write, start, end) => write(bytes.subarray(start, end)),
    proxySource,
    close: () => Promise.resolve(),
  };
}

/** The number of files that are being sent. */
let sends = 0;

/** Passes the same bytes to `write`, and reads the next chunk while one is written, in the memory of two buffers. */
export async function sendChunks(
  handle: FileHandle,
  name: string,
  part: Part,
  write: (chunk: Uint8Array) => Promise<void>,
): Promise<void> {
  const { start, end } = part;
  const bytes = Math.min(sends < maxLargeSends ? sendBytes : crowdedSendBytes, end - start);
  const fill = reader(handle, name, part);
  let [next, other] = [Buffer.allocUnsafeSlow(bytes), Buffer.allocUnsafeSlow(bytes)];
  sends += 1;
  try {
    let writing = Promise.resolve();
    for (let position = start; position < end; [next, other] = [other, next]) {
      const [chunk] = await Promise.all([fill(next, position), writing]);
      position += chunk.byteLength;
      writing = write(chunk);
    }
    await writing;
  } finally {
    sends -= 1;
  }
}

/** Reads into the buffer from a position; returns the filled part. */
type Fill = (buffer: Buffer, position: number) => Promise<Buffer>;

function reader(handle: FileHandle, name: string, { end, size }: Part): Fill {
  return async (buffer, position) => {
    const length = Math.min(buffer.byteLength, end - position);
    const { bytesRead } = await handle.read(buffer, 0, length, position);
    if (bytesRead === 0) throw new Error(`${name} ends at byte ${position} of ${size}`);
    return buffer.subarray(0, bytesRead);
  };
}
