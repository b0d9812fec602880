import type { Bucket } from './bucket.ts';
import type { UploadedPart } from './multipart-uploads.ts';

export const mebibyte = 1024 ** 2;

/** Fewer than the 10,000 parts that S3 allows, because the directory makes an archive larger than its files. */
const usedParts = 9_000;

/** The number of parts of the first size, and of each larger size. */
const equalParts = 5_000;
const growingParts = 600;

/** Node.js 20 limits buffers to 4 GiB. */
const maxPartBytes = 2 * 1024 ** 3;

/** Returns the part size in whole MiB with which an object fits into one upload. */
export function partBytesOf(bytes: number): number {
  return Math.ceil(bytes / usedParts / mebibyte) * mebibyte;
}

/**
 * Returns the size of a part of an object that may outgrow equal parts. The size doubles repeatedly, so that S3's
 * largest object (5 TiB) fits into 10,000 parts.
 *
 * @param number from 1.
 */
export function growingPartBytes(number: number, firstBytes: number): number {
  const doublings = Math.max(0, Math.ceil((number - equalParts) / growingParts));
  return Math.min(firstBytes * 2 ** doublings, Math.max(firstBytes, maxPartBytes));
}

/** Concurrent uploads of parts; the next part fills meanwhile. */
const uploadConcurrency = 2;

/**
 * Writes an object of unknown size in constant memory: three parts. An object of one part is written with one PUT; a
 * larger one as a multipart upload, which is invisible until completed.
 */
export class ObjectWriter {
  readonly #bucket: Bucket;
  readonly #name: string;
  readonly #firstBytes: number;
  readonly #grows: boolean;
  /** The size of the current part. */
  #partBytes: number;
  readonly #over = new AbortController();
  readonly #sending = new Set<Promise<void>>();
  readonly #sent: UploadedPart[] = [];
  /** Buffers of sent parts, for reuse. */
  readonly #free: Buffer[] = [];
  #part: Buffer | null = null;
  #filled = 0;
  #parts = 0;
  #size = 0;
  #uploadId: Promise<string> | null = null;
  #failure: { error: unknown } | null = null;

  /**
   * @param parts.bytes the size of all parts but the last: some services require equal parts.
   * @param parts.grow whether later parts may be larger, for an object that could outgrow 10,000 parts of this size.
   */
  constructor(bucket: Bucket, name: string, parts: { bytes: number; grow: boolean }) {
    this.#bucket = bucket;
    this.#name = name;
    this.#firstBytes = parts.bytes;
    this.#partBytes = parts.bytes;
    this.#grows = parts.grow;
  }

  /** Appends copies of the chunks; the caller may reuse them once this resolves. */
  async write(chunks: readonly Uint8Array[]): Promise<void> {
    for (const chunk of chunks) {
      for (let start = 0; start < chunk.byteLength;) {
        // Sends a full part only when more follows: an object of one part needs no upload, and the last part is never
        // empty.
        if (this.#filled === this.#partBytes) await this.#sendPart();
        this.#part ??= this.#takeBuffer();
        const end = Math.min(chunk.byteLength, start + this.#partBytes - this.#filled);
        this.#part.set(chunk.subarray(start, end), this.#filled);
        this.#filled += end - start;
        this.#size += end - start;
        start = end;
      }
    }
  }

  #takeBuffer(): Buffer {
    const free = this.#free.pop();
    // Buffers from before a growth are too small.
    return free?.byteLength === this.#partBytes ? free : Buffer.allocUnsafeSlow(this.#partBytes);
  }

  /** Completes the object; it is readable when this resolves. */
  async finish(): Promise<void> {
    if (this.#uploadId === null) {
      await this.#bucket.put(this.#name, this.#part?.subarray(0, this.#filled) ?? Buffer.alloc(0));
      return;
    }
    await this.#sendPart();
    while (this.#sending.size > 0) await Promise.race(this.#sending);
    this.#throwFailure();
    const parts = this.#sent.toSorted((a, b) => a.PartNumber - b.PartNumber);
    await this.#bucket.uploads.complete(this.#name, await this.#uploadId, parts);
    const size = await this.#bucket.sizeOf(this.#name);
    if (size !== this.#size) throw new Error(`${this.#name} has ${size} bytes instead of ${this.#size}`);
  }

  /** Discards an unfinished object. Never throws; a sweep removes the remains. */
  async abort(): Promise<void> {
    this.#over.abort();
    while (this.#sending.size > 0) await Promise.race(this.#sending);
    try {
      const uploadId = await this.#uploadId;
      if (uploadId !== null) await this.#bucket.uploads.abort(this.#name, uploadId);
    } catch {
      // The caller already reports a failure.
    }
  }

  async #sendPart(): Promise<void> {
    const buffer = this.#part;
    if (buffer === null) return;
    const bytes = buffer.subarray(0, this.#filled);
    this.#part = null;
    this.#filled = 0;
    this.#parts += 1;
    const number = this.#parts;
    if (this.#grows) this.#partBytes = growingPartBytes(number + 1, this.#firstBytes);
    this.#uploadId ??= this.#bucket.uploads.start(this.#name);
    const uploadId = await this.#uploadId;
    while (this.#sending.size >= uploadConcurrency) await Promise.race(this.#sending);
    this.#throwFailure();
    const sending = this.#bucket.uploads
      .sendPart(this.#name, uploadId, { number, bytes, signal: this.#over.signal })
      .then(
        (part) => {
          this.#sent.push(part);
          if (buffer.byteLength === this.#partBytes) this.#free.push(buffer);
        },
        (error: unknown) => {
          this.#failure ??= { error };
        },
      )
      .finally(() => this.#sending.delete(sending));
    this.#sending.add(sending);
  }

  #throwFailure(): void {
    if (this.#failure !== null) throw this.#failure.error;
  }
}
