import type { Bucket, UploadedPart } from './bucket.ts';

export const mebibyte = 1024 ** 2;

/** Of the 10,000 parts that S3 takes: an archive is larger than its files by its directory. */
const usedParts = 9_000;

/** Parts of one size, and how many there are of each size after that. */
const equalParts = 5_000;
const growingParts = 600;

/** Node.js 20 has no larger buffers than 4 GiB. */
const largestPartBytes = 2 * 1024 ** 3;

/** Returns the size of equal parts with which an object of so many bytes fits into one upload, in whole MiB. */
export function partBytesOf(bytes: number): number {
  return Math.ceil(bytes / usedParts / mebibyte) * mebibyte;
}

/**
 * Returns the size of a part of an object that may outgrow equal parts of the first size: doubled again and again, so
 * that the largest object that S3 takes, of 5 TiB, fits into 10,000.
 *
 * @param number from 1.
 */
export function growingPartBytes(number: number, firstBytes: number): number {
  const doublings = Math.max(0, Math.ceil((number - equalParts) / growingParts));
  return Math.min(firstBytes * 2 ** doublings, Math.max(firstBytes, largestPartBytes));
}

/** Parts sent at once: while they are under way the next is filled. */
const partsAtOnce = 2;

/**
 * Writes an object whose size is not known beforehand, in constant memory: three parts. What fits into one part is put
 * at once; more is sent as a multipart upload, which nobody sees before it is completed.
 */
export class ObjectWriter {
  readonly #bucket: Bucket;
  readonly #name: string;
  readonly #firstBytes: number;
  readonly #grows: boolean;
  /** Of the part that is filled now. */
  #partBytes: number;
  readonly #over = new AbortController();
  readonly #sending = new Set<Promise<void>>();
  readonly #sent: UploadedPart[] = [];
  /** Buffers whose parts were sent. */
  readonly #free: Buffer[] = [];
  #part: Buffer | null = null;
  #filled = 0;
  #parts = 0;
  #size = 0;
  #uploadId: Promise<string> | null = null;
  #failure: { error: unknown } | null = null;

  /**
   * @param parts.bytes all parts but the last have this size: some services want them equal.
   * @param parts.grow whether later ones may be larger, for an object that could outgrow 10,000 of this size.
   */
  constructor(bucket: Bucket, name: string, parts: { bytes: number; grow: boolean }) {
    this.#bucket = bucket;
    this.#name = name;
    this.#firstBytes = parts.bytes;
    this.#partBytes = parts.bytes;
    this.#grows = parts.grow;
  }

  /** The chunks are copied, and their owner's again when this resolves. */
  async write(chunks: readonly Uint8Array[]): Promise<void> {
    for (const chunk of chunks) {
      for (let start = 0; start < chunk.byteLength;) {
        // Not before there is more: an object of one part is put, and the last part is not empty.
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
    // Those of before a growth are too small.
    return free?.byteLength === this.#partBytes ? free : Buffer.allocUnsafeSlow(this.#partBytes);
  }

  /** The object is there, whole, when this resolves. */
  async finish(): Promise<void> {
    if (this.#uploadId === null) {
      await this.#bucket.put(this.#name, this.#part?.subarray(0, this.#filled) ?? Buffer.alloc(0));
      return;
    }
    await this.#sendPart();
    while (this.#sending.size > 0) await Promise.race(this.#sending);
    this.#throwFailure();
    const parts = this.#sent.toSorted((a, b) => a.PartNumber - b.PartNumber);
    await this.#bucket.completeUpload(this.#name, await this.#uploadId, parts);
    const size = await this.#bucket.sizeOf(this.#name);
    if (size !== this.#size) throw new Error(`${this.#name} has ${size} bytes instead of ${this.#size}`);
  }

  /** Gives up an object that was not finished. Never fails: what stays because of that, a sweep removes. */
  async abort(): Promise<void> {
    this.#over.abort();
    while (this.#sending.size > 0) await Promise.race(this.#sending);
    try {
      const uploadId = await this.#uploadId;
      if (uploadId !== null) await this.#bucket.abortUpload(this.#name, uploadId);
    } catch {
      // Whoever aborts has a failure of its own to tell.
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
    this.#uploadId ??= this.#bucket.startUpload(this.#name);
    const uploadId = await this.#uploadId;
    while (this.#sending.size >= partsAtOnce) await Promise.race(this.#sending);
    this.#throwFailure();
    const sending = this.#bucket
      .uploadPart(this.#name, uploadId, { number, bytes, signal: this.#over.signal })
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
