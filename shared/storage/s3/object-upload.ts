import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { Upload } from '@aws-sdk/lib-storage';
import type { Options } from '@aws-sdk/lib-storage';

/** Concurrent uploads of parts, each in memory. */
const uploadConcurrency = 3;

/** Writes an object of unknown size in constant memory. It is invisible until {@link ObjectUpload.finish}. */
export class ObjectUpload {
  readonly #body = new PassThrough();
  readonly #done: Promise<unknown>;

  /** @param describe returns the error for operators. */
  constructor(
    { params, ...options }: Pick<Options, 'client' | 'params' | 'partSize'>,
    describe: (error: unknown) => Error,
  ) {
    const upload = new Upload({
      ...options,
      params: { ...params, Body: this.#body },
      queueSize: uploadConcurrency,
    });
    this.#done = upload.done().catch((error: unknown) => {
      const fault = describe(error);
      this.#body.destroy(fault);
      throw fault;
    });
    // The next call throws it.
    this.#done.catch(() => undefined);
    this.#body.on('error', () => undefined);
  }

  /** Appends copies of chunks, so the caller may reuse them. */
  async write(chunks: readonly Uint8Array[]): Promise<void> {
    if (this.#body.destroyed) await this.#done;
    if (this.#body.write(Buffer.concat(chunks))) return;
    await Promise.race([once(this.#body, 'drain'), this.#done]);
  }

  /** Completes the object; it is readable when this resolves. */
  async finish(): Promise<void> {
    this.#body.end();
    await this.#done;
  }

  /** Discards an unfinished object. Never throws; the bucket's lifecycle rule removes what remains. */
  async discard(): Promise<void> {
    this.#body.destroy(new Error('the upload was discarded'));
    await this.#done.catch(() => undefined);
  }
}
