import type { Readable } from 'node:stream';
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import type { BufferPool } from '../buffer-pool.ts';
import { sentRange, withIdleTimeout } from './bodies.ts';
import { S3Calls } from './calls.ts';
import { TruncatedBody } from './faults.ts';
import { MultipartUploads } from './multipart-uploads.ts';
import { sendPlain } from './plain-http.ts';
import { presign } from './presign.ts';
import type { PresignOptions } from './presign.ts';
import type { S3Limits, S3Settings } from './settings.ts';

/** Objects per page of a listing: the most that S3 returns. */
const listPage = 1000;

/** Smaller parts are not worth a connection of their own. */
const plainBytes = 256 * 1024;

/** The lifetime of a URL that is requested at once. Clocks may differ. */
const plainUrlSeconds = 300;

/** An object in a listing. */
export interface ListedObject {
  name: string;
  /** Bytes. */
  size: number;
  modified: Date;
  /** Differs for other bytes. */
  etag: string;
}

/** The store's objects in its bucket. Names exclude the prefix. {@link S3Calls} has timeouts, retries and errors. */
export class Bucket {
  readonly uploads: MultipartUploads;
  readonly #calls: S3Calls;

  constructor(settings: S3Settings, limits: S3Limits) {
    this.#calls = new S3Calls(settings, limits);
    this.uploads = new MultipartUploads(this.#calls);
  }

  /** Checks that the bucket exists and responds, with one attempt. */
  async ping(): Promise<void> {
    await this.#calls.run(
      (abortSignal) => this.#calls.client.send(new HeadBucketCommand(this.#calls.bucket()), { abortSignal }),
      {
        retryBudgetMs: 0,
      },
    );
  }

  /** Returns the size of an object in bytes; null if there is none. */
  async sizeOf(name: string): Promise<number | null> {
    const found = await this.#calls.runOrAbsent((abortSignal) =>
      this.#calls.client.send(new HeadObjectCommand(this.#calls.object(name)), { abortSignal }),
    );
    return found === null ? null : (found.ContentLength ?? 0);
  }

  /** Returns a small object; null if there is none. */
  async get(name: string): Promise<Buffer | null> {
    return this.#calls.runOrAbsent(async (abortSignal) => {
      const { Body, ContentLength } = await this.#calls.client.send(
        new GetObjectCommand(this.#calls.object(name)),
        {
          abortSignal,
        },
      );
      const bytes = Buffer.from((await Body?.transformToByteArray()) ?? []);
      if (bytes.length !== ContentLength)
        throw new TruncatedBody(`${name}: ${bytes.length} of ${ContentLength} bytes`);
      return bytes;
    });
  }

  /** Returns the first bytes of a non-empty object, at most `length`, and its size; null if there is none. */
  async getStart(name: string, length: number): Promise<{ bytes: Buffer; size: number } | null> {
    return this.#calls.runOrAbsent(async (abortSignal) => {
      const answer = await this.#calls.client.send(
        new GetObjectCommand({ ...this.#calls.object(name), Range: `bytes=0-${length - 1}` }),
        { abortSignal },
      );
      const { size, end } = sentRange(answer, 0);
      const bytes = Buffer.from((await answer.Body?.transformToByteArray()) ?? []);
      if (bytes.length !== end) throw new TruncatedBody(`${name}: ${bytes.length} of ${end} bytes`);
      return { bytes, size };
    });
  }

  /**
   * Reads an object from `start` up to but not including `end`. If the body breaks off, it requests the rest; a reader
   * never gets fewer bytes without an error.
   */
  async *read(name: string, start: number, end: number): AsyncGenerator<Uint8Array> {
    let position = start;
    let failingSince: number | null = null;
    for (let attempts = 0; position < end; attempts += 1) {
      const before = position;
      try {
        const body = await this.#open(name, position, end);
        for await (const chunk of withIdleTimeout(body, this.#calls.limits.idleTimeoutMs)) {
          position += chunk.byteLength;
          if (position > end) throw new Error(`${name}: the service sent more bytes than requested`);
          yield chunk;
        }
        if (position < end) throw new TruncatedBody(`${name} ends at byte ${position} of ${end}`);
      } catch (error) {
        if (position > before) {
          failingSince = null;
          attempts = 0;
        }
        failingSince ??= Date.now();
        await this.#calls.pauseReading(error, { attempts, failingMs: Date.now() - failingSince });
      }
    }
  }

  /**
   * Passes the bytes of an object to `write`, chunk by chunk, each after the previous write resolved. Without TLS, the
   * chunks share the memory of a buffer. Whatever is missing then follows as in {@link Bucket.read}.
   */
  async send(
    name: string,
    start: number,
    end: number,
    { buffers, write }: { buffers: BufferPool; write: (chunk: Uint8Array) => Promise<void> },
  ): Promise<void> {
    let position = start;
    if (this.#calls.settings.endpoint?.startsWith('http:') === true && end - start > plainBytes) {
      let failedWrite: { error: unknown } | null = null;
      const count = async (chunk: Uint8Array) => {
        await write(chunk).catch((error: unknown) => {
          failedWrite = { error };
          throw error;
        });
        position += chunk.byteLength;
      };
      const url = await this.#presign(name, { seconds: plainUrlSeconds, query: {} });
      const { callTimeoutMs, idleTimeoutMs } = this.#calls.limits;
      await buffers
        .withBuffer((buffer) =>
          sendPlain({ url, start, end }, { buffer, callTimeoutMs, idleTimeoutMs, write: count }),
        )
        .catch((error: unknown) => {
          if (failedWrite !== null) throw error;
        });
    }
    for await (const chunk of this.read(name, position, end)) await write(chunk);
  }

  /** Writes or replaces an object, atomically. */
  async put(name: string, bytes: Uint8Array): Promise<void> {
    const object = { ...this.#calls.object(name), Body: bytes, ContentType: 'application/octet-stream' };
    await this.#calls.run(
      (abortSignal) => this.#calls.client.send(new PutObjectCommand(object), { abortSignal }),
      {
        timeoutMs: this.#calls.limits.uploadTimeoutMs,
      },
    );
  }

  /** Deletes an object, if it exists. */
  async delete(name: string): Promise<void> {
    await this.#calls.runOrAbsent((abortSignal) =>
      this.#calls.client.send(new DeleteObjectCommand(this.#calls.object(name)), { abortSignal }),
    );
  }

  /** Lists the objects whose names begin with a text, page by page, ordered by name. */
  async *list(start: string): AsyncGenerator<ListedObject[]> {
    let token: string | undefined;
    do {
      const request = {
        ...this.#calls.bucket(),
        Prefix: this.#calls.settings.prefix + start,
        MaxKeys: listPage,
        ContinuationToken: token,
      };
      const page = await this.#calls.run((abortSignal) =>
        this.#calls.client.send(new ListObjectsV2Command(request), { abortSignal }),
      );
      yield (page.Contents ?? []).map(({ Key, Size, LastModified, ETag }) => ({
        name: this.#calls.nameOf(Key),
        size: Size ?? 0,
        modified: LastModified ?? new Date(),
        etag: ETag ?? '',
      }));
      token = page.IsTruncated === true ? page.NextContinuationToken : undefined;
    } while (token !== undefined);
  }

  /** Returns a URL that lets anyone read an object for `seconds`. */
  async presignedUrl(
    name: string,
    { seconds, contentType }: { seconds: number; contentType: string },
  ): Promise<string> {
    // The bucket cannot send the policy with which Lectern keeps an opened SVG from running scripts.
    const query = { 'response-content-type': contentType, 'response-content-disposition': 'attachment' };
    return this.#presign(name, { seconds, query });
  }

  /** Returns path and query of a presigned URL of an object, without the leading slash. */
  async presignedTarget(name: string, seconds: number): Promise<string> {
    const { pathname, search } = new URL(await this.#presign(name, { seconds, query: {} }));
    return pathname.slice(1) + search;
  }

  async #presign(name: string, options: Omit<PresignOptions, 'at'>): Promise<string> {
    const credentials = await this.#calls.client.config.credentials().catch((error: unknown) => {
      throw this.#calls.fault(error);
    });
    return presign(this.#calls.settings, credentials, name, { ...options, at: new Date() });
  }

  /** Returns the body of a range of an object. */
  async #open(name: string, start: number, end: number): Promise<Readable> {
    const answer = await this.#calls.run((abortSignal) =>
      this.#calls.client.send(
        new GetObjectCommand({ ...this.#calls.object(name), Range: `bytes=${start}-${end - 1}` }),
        {
          abortSignal,
        },
      ),
    );
    const body = answer.Body as Readable;
    try {
      sentRange(answer, start);
    } catch (error) {
      body.destroy();
      throw error;
    }
    return body;
  }
}
