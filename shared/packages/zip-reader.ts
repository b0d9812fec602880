import type { FileHandle } from 'node:fs/promises';

import { RandomAccessReader } from 'yauzl';

/**
 * How yauzl reads an archive here. Its own reader hands offsets on to the file system unseen, and one that an archive
 * made up (ZIP64 has room for 2^64) is then thrown where nothing catches it: it would end the process.
 */
export class ZipReader extends RandomAccessReader {
  readonly #handle: FileHandle;
  readonly #size: number;

  /** @param size of the file, in bytes; the file is not closed here */
  constructor(handle: FileHandle, size: number) {
    super();
    this.#handle = handle;
    this.#size = size;
  }

  override read(
    buffer: Buffer,
    offset: number,
    length: number,
    position: number,
    callback: (error: Error | null, bytesRead?: number) => void,
  ): void {
    if (!(position >= 0 && position + length <= this.#size)) {
      const error = new Error(`it points to byte ${position} of ${this.#size}`);
      setImmediate(callback, error);
      return;
    }
    this.#handle.read(buffer, offset, length, position).then(
      ({ bytesRead }) => setImmediate(callback, null, bytesRead),
      (error: unknown) => setImmediate(callback, error as Error),
    );
  }
}
