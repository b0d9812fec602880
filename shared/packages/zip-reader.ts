import type { FileHandle } from 'node:fs/promises';

import { RandomAccessReader } from 'yauzl';

/**
 * Reads an archive for yauzl. yauzl's own reader passes offsets to the file system unchecked. An invalid offset (ZIP64
 * allows 2^64) then throws an uncaught error, which would end the process.
 */
export class ZipReader extends RandomAccessReader {
  readonly #handle: FileHandle;
  readonly #size: number;

  /** @param size the file's size in bytes; the reader does not close the file */
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
