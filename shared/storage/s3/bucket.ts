import type { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { sentRange, withIdleTimeout } from './bodies.ts';
import { backoffMs } from '../../platform/backoff.ts';
import { withTimeLimit } from '../../platform/time-limits.ts';
import { TruncatedBody, isAbsent, isUploadGone, isTransient, CallTimeout, storeFault } from './faults.ts';
import { presign } from './presign.ts';
import type { S3Limits, S3Settings } from './settings.ts';

/** Delays between attempts of a call. */
const backoff = { firstMs: 50, maxMs: 2_000 };

/** Objects per page of a listing: the most that S3 returns. */
const listPage = 1000;

/** An object in a listing. */
export interface ListedObject {
  name: string;
  /** Bytes. */
  size: number;
  modified: Date;
  /** Differs for other bytes. */
  etag: string;
}

export interface UploadedPart {
  PartNumber: number;
  ETag: string | undefined;
}

/**
 * The store's calls to its bucket. Each has a timeout, and is retried with backoff while its failure is transient and
 * the retry budget lasts. Names of objects exclude the prefix.
 *
 * @throws {LecternError} INTERNAL_ERROR from every call, with a message for operators.
 */
export class Bucket {
  readonly #client: S3Client;
  readonly #settings: S3Settings;
  readonly #limits: S3Limits;

  constructor(settings: S3Settings, limits: S3Limits) {
    const { accessKeyId, secretAccessKey } = settings;
    this.#settings = settings;
    this.#limits = limits;
    this.#client = new S3Client({
      region: settings.region,
      forcePathStyle: settings.forcePathStyle,
      ...(settings.endpoint !== undefined && { endpoint: settings.endpoint }),
      ...(accessKeyId !== undefined &&
        secretAccessKey !== undefined && { credentials: { accessKeyId, secretAccessKey } }),
      // This class has its own retries and timeouts.
      maxAttempts: 1,
      // Every body is signed with its SHA-256; some compatible services reject further checksums.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      expectContinueHeader: false,
      requestHandler: {
        // A stalled reader keeps its connection, which must not block others.
        httpAgent: { keepAlive: true, maxSockets: Infinity },
        httpsAgent: { keepAlive: true, maxSockets: Infinity },
        connectionTimeout: limits.callTimeoutMs,
      },
    });
  }

  /** Checks that the bucket exists and responds, with one attempt. */
  async ping(): Promise<void> {
    await this.#call(
      (abortSignal) => this.#client.send(new HeadBucketCommand(this.#bucket), { abortSignal }),
      {
        patience: 0,
      },
    );
  }

  /** Returns the size of an object in bytes; null if there is none. */
  async sizeOf(name: string): Promise<number | null> {
    const found = await this.#orAbsent((abortSignal) =>
      this.#client.send(new HeadObjectCommand(this.#object(name)), { abortSignal }),
    );
    return found === null ? null : (found.ContentLength ?? 0);
  }

  /** Returns a small object; null if there is none. */
  async get(name: string): Promise<Buffer | null> {
    return this.#orAbsent(async (abortSignal) => {
      const { Body, ContentLength } = await this.#client.send(new GetObjectCommand(this.#object(name)), {
        abortSignal,
      });
      const bytes = Buffer.from((await Body?.transformToByteArray()) ?? []);
      if (bytes.length !== ContentLength)
        throw new TruncatedBody(`${name}: ${bytes.length} of ${ContentLength} bytes`);
      return bytes;
    });
  }

  /** Returns the first bytes of a non-empty object, at most `length`, and its size; null if there is none. */
  async getStart(name: string, length: number): Promise<{ bytes: Buffer; size: number } | null> {
    return this.#orAbsent(async (abortSignal) => {
      const answer = await this.#client.send(
        new GetObjectCommand({ ...this.#object(name), Range: `bytes=0-${length - 1}` }),
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
        for await (const chunk of withIdleTimeout(body, this.#limits.idleTimeoutMs)) {
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
        if (!isTransient(error) || Date.now() - failingSince > this.#limits.retryBudgetMs)
          throw this.#fault(error);
        await delay(backoffMs(backoff, attempts));
      }
    }
  }

  /** Writes or replaces an object, atomically. */
  async put(name: string, bytes: Uint8Array): Promise<void> {
    const object = { ...this.#object(name), Body: bytes, ContentType: 'application/octet-stream' };
    await this.#call((abortSignal) => this.#client.send(new PutObjectCommand(object), { abortSignal }), {
      deadline: this.#limits.uploadTimeoutMs,
    });
  }

  /** Deletes an object, if it exists. */
  async delete(name: string): Promise<void> {
    await this.#orAbsent((abortSignal) =>
      this.#client.send(new DeleteObjectCommand(this.#object(name)), { abortSignal }),
    );
  }

  /** Lists the objects whose names begin with a text, page by page, ordered by name. */
  async *list(start: string): AsyncGenerator<ListedObject[]> {
    let token: string | undefined;
    do {
      const request = {
        ...this.#bucket,
        Prefix: this.#settings.prefix + start,
        MaxKeys: listPage,
        ContinuationToken: token,
      };
      const page = await this.#call((abortSignal) =>
        this.#client.send(new ListObjectsV2Command(request), { abortSignal }),
      );
      yield (page.Contents ?? []).map(({ Key, Size, LastModified, ETag }) => ({
        name: this.#withoutPrefix(Key),
        size: Size ?? 0,
        modified: LastModified ?? new Date(),
        etag: ETag ?? '',
      }));
      token = page.IsTruncated === true ? page.NextContinuationToken : undefined;
    } while (token !== undefined);
  }

  /** Starts a multipart upload, whose object exists only after its completion; returns the upload's id. */
  async startUpload(name: string): Promise<string> {
    const object = { ...this.#object(name), ContentType: 'application/octet-stream' };
    const { UploadId } = await this.#call((abortSignal) =>
      this.#client.send(new CreateMultipartUploadCommand(object), { abortSignal }),
    );
    if (UploadId === undefined) throw this.#fault(new Error('An upload got no id'));
    return UploadId;
  }

  /** @param signal aborts the attempts. */
  async uploadPart(
    name: string,
    uploadId: string,
    { number, bytes, signal }: { number: number; bytes: Uint8Array; signal: AbortSignal },
  ): Promise<UploadedPart> {
    const part = { ...this.#object(name), UploadId: uploadId, PartNumber: number, Body: bytes };
    const { ETag } = await this.#call(
      (abortSignal) =>
        this.#client.send(new UploadPartCommand(part), {
          abortSignal: AbortSignal.any([abortSignal, signal]),
        }),
      { deadline: this.#limits.uploadTimeoutMs, signal },
    );
    return { PartNumber: number, ETag };
  }

  /**
   * Completes an upload. The caller must check the object's size: an attempt with a lost response may already have
   * completed the upload.
   */
  async completeUpload(name: string, uploadId: string, parts: UploadedPart[]): Promise<void> {
    const upload = { ...this.#object(name), UploadId: uploadId, MultipartUpload: { Parts: parts } };
    await this.#call(
      async (abortSignal) => {
        try {
          await this.#client.send(new CompleteMultipartUploadCommand(upload), { abortSignal });
        } catch (error) {
          if (!isUploadGone(error)) throw error;
        }
      },
      { deadline: this.#limits.completionTimeoutMs },
    );
  }

  /** Aborts an upload with one attempt; a sweep aborts the remaining ones. */
  async abortUpload(name: string, uploadId: string): Promise<void> {
    const upload = { ...this.#object(name), UploadId: uploadId };
    await this.#call(
      async (abortSignal) => {
        try {
          await this.#client.send(new AbortMultipartUploadCommand(upload), { abortSignal });
        } catch (error) {
          if (!isUploadGone(error)) throw error;
        }
      },
      { patience: 0 },
    );
  }

  /** Lists the first thousand uploads that were neither completed nor aborted. */
  async listUploads(start: string): Promise<{ name: string; uploadId: string; started: Date }[]> {
    const request = { ...this.#bucket, Prefix: this.#settings.prefix + start, MaxUploads: listPage };
    const { Uploads } = await this.#call((abortSignal) =>
      this.#client.send(new ListMultipartUploadsCommand(request), { abortSignal }),
    );
    return (Uploads ?? []).map(({ Key, UploadId, Initiated }) => ({
      name: this.#withoutPrefix(Key),
      uploadId: UploadId ?? '',
      started: Initiated ?? new Date(),
    }));
  }

  /** Returns a URL that lets anyone read an object for so many seconds. */
  async presignedUrl(
    name: string,
    { seconds, contentType }: { seconds: number; contentType: string },
  ): Promise<string> {
    const credentials = await this.#client.config.credentials().catch((error: unknown) => {
      throw this.#fault(error);
    });
    return presign(this.#settings, credentials, name, {
      seconds,
      at: new Date(),
      query: { 'response-content-type': contentType },
    });
  }

  /** Returns the body of a range of an object. */
  async #open(name: string, start: number, end: number): Promise<Readable> {
    const answer = await this.#call((abortSignal) =>
      this.#client.send(new GetObjectCommand({ ...this.#object(name), Range: `bytes=${start}-${end - 1}` }), {
        abortSignal,
      }),
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

  async #orAbsent<T>(action: (signal: AbortSignal) => Promise<T>): Promise<T | null> {
    return this.#call((signal) =>
      action(signal).catch((error: unknown) => {
        if (isAbsent(error)) return null;
        throw error;
      }),
    );
  }

  async #call<T>(
    action: (signal: AbortSignal) => Promise<T>,
    {
      deadline = this.#limits.callTimeoutMs,
      patience = this.#limits.retryBudgetMs,
      signal,
    }: { deadline?: number; patience?: number; signal?: AbortSignal } = {},
  ): Promise<T> {
    const until = Date.now() + patience;
    const limit = { timeoutMs: deadline, late: () => new CallTimeout(deadline) };
    for (let attempts = 0; ; attempts += 1) {
      try {
        return await withTimeLimit(limit, (ending) => action(ending).catch(reasonOf(ending)));
      } catch (error) {
        signal?.throwIfAborted();
        const pause = backoffMs(backoff, attempts);
        if (!isTransient(error) || Date.now() + pause > until) throw this.#fault(error);
        await delay(pause);
      }
    }
  }

  get #bucket(): { Bucket: string } {
    return { Bucket: this.#settings.bucket };
  }

  #object(name: string): { Bucket: string; Key: string } {
    return { ...this.#bucket, Key: this.#settings.prefix + name };
  }

  #withoutPrefix(key: string | undefined): string {
    return (key ?? '').slice(this.#settings.prefix.length);
  }

  #fault(error: unknown): Error {
    return storeFault(error, this.#settings);
  }
}

/** The SDK's error for an aborted call lacks the abort's reason. */
function reasonOf(ending: AbortSignal): (error: unknown) => never {
  return (error) => {
    throw ending.aborted ? ending.reason : error;
  };
}
