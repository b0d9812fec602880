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

/** Between the tries of a call. */
const backoff = { firstMs: 50, maxMs: 2_000 };

/** Objects in one page of a listing: as many as S3 gives. */
const listPage = 1000;

/** An object, as a listing has it. */
export interface ListedObject {
  name: string;
  /** Bytes. */
  size: number;
  modified: Date;
  /** Another one for other bytes. */
  etag: string;
}

export interface UploadedPart {
  PartNumber: number;
  ETag: string | undefined;
}

/**
 * The calls that a store makes to its bucket. Each has a deadline, and is tried again as long as its failure may pass
 * and the patience lasts. Names of objects are those behind the prefix.
 *
 * @throws {LecternError} INTERNAL_ERROR from every call, in words for an operator.
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
      // Tries, pauses and deadlines are ours, below.
      maxAttempts: 1,
      // Every body is signed with its SHA-256; more checksums are what some compatible services refuse.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      expectContinueHeader: false,
      requestHandler: {
        // A reader that stalls keeps its connection; it must not keep others waiting for one.
        httpAgent: { keepAlive: true, maxSockets: Infinity },
        httpsAgent: { keepAlive: true, maxSockets: Infinity },
        connectionTimeout: limits.callTimeoutMs,
      },
    });
  }

  /** Whether the bucket is there and answers, at the first try. */
  async ping(): Promise<void> {
    await this.#call(
      (abortSignal) => this.#client.send(new HeadBucketCommand(this.#bucket), { abortSignal }),
      {
        patience: 0,
      },
    );
  }

  /** The size of an object in bytes; null when there is none. */
  async sizeOf(name: string): Promise<number | null> {
    const found = await this.#orAbsent((abortSignal) =>
      this.#client.send(new HeadObjectCommand(this.#object(name)), { abortSignal }),
    );
    return found === null ? null : (found.ContentLength ?? 0);
  }

  /** A small object, whole; null when there is none. */
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

  /** The first bytes of an object that is not empty, `length` at most, and its size; null when there is none. */
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
   * The bytes of an object from `start` up to but not including `end`, as they come. Where they cease to come the rest
   * is asked for; a reader never gets fewer than it asked for without an error.
   */
  async *read(name: string, start: number, end: number): AsyncGenerator<Uint8Array> {
    let position = start;
    let failingSince: number | null = null;
    for (let tries = 0; position < end; tries += 1) {
      const before = position;
      try {
        const body = await this.#open(name, position, end);
        for await (const chunk of withIdleTimeout(body, this.#limits.idleTimeoutMs)) {
          position += chunk.byteLength;
          if (position > end) throw new Error(`${name}: more bytes came than were asked for`);
          yield chunk;
        }
        if (position < end) throw new TruncatedBody(`${name} ends at byte ${position} of ${end}`);
      } catch (error) {
        if (position > before) {
          failingSince = null;
          tries = 0;
        }
        failingSince ??= Date.now();
        if (!isTransient(error) || Date.now() - failingSince > this.#limits.retryBudgetMs)
          throw this.#fault(error);
        await delay(backoffMs(backoff, tries));
      }
    }
  }

  /** Puts an object there, at once or not at all; one of that name is replaced. */
  async put(name: string, bytes: Uint8Array): Promise<void> {
    const object = { ...this.#object(name), Body: bytes, ContentType: 'application/octet-stream' };
    await this.#call((abortSignal) => this.#client.send(new PutObjectCommand(object), { abortSignal }), {
      deadline: this.#limits.uploadTimeoutMs,
    });
  }

  /** Does nothing where there is none. */
  async delete(name: string): Promise<void> {
    await this.#orAbsent((abortSignal) =>
      this.#client.send(new DeleteObjectCommand(this.#object(name)), { abortSignal }),
    );
  }

  /** The objects whose names begin with a text, a page at a time, in the order of their names. */
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
        name: this.#behindPrefix(Key),
        size: Size ?? 0,
        modified: LastModified ?? new Date(),
        etag: ETag ?? '',
      }));
      token = page.IsTruncated === true ? page.NextContinuationToken : undefined;
    } while (token !== undefined);
  }

  /** Begins an object that is sent in parts; it is there when the upload is completed. Gives the upload's id. */
  async startUpload(name: string): Promise<string> {
    const object = { ...this.#object(name), ContentType: 'application/octet-stream' };
    const { UploadId } = await this.#call((abortSignal) =>
      this.#client.send(new CreateMultipartUploadCommand(object), { abortSignal }),
    );
    if (UploadId === undefined) throw this.#fault(new Error('An upload got no id'));
    return UploadId;
  }

  /** @param signal ends the tries. */
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

  /** Whether the object is as it was sent shows its size: a try whose answer was lost may have completed it. */
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

  /** At one try; an upload that stays because of that is aborted by a sweep. */
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

  /** Uploads that were begun and neither completed nor aborted: the first thousand. */
  async listUploads(start: string): Promise<{ name: string; uploadId: string; started: Date }[]> {
    const request = { ...this.#bucket, Prefix: this.#settings.prefix + start, MaxUploads: listPage };
    const { Uploads } = await this.#call((abortSignal) =>
      this.#client.send(new ListMultipartUploadsCommand(request), { abortSignal }),
    );
    return (Uploads ?? []).map(({ Key, UploadId, Initiated }) => ({
      name: this.#behindPrefix(Key),
      uploadId: UploadId ?? '',
      started: Initiated ?? new Date(),
    }));
  }

  /** An address at which anybody can read an object for so many seconds. */
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

  /** The body of an object from one byte on. */
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
    for (let tries = 0; ; tries += 1) {
      try {
        return await withTimeLimit(limit, (ending) => action(ending).catch(reasonOf(ending)));
      } catch (error) {
        signal?.throwIfAborted();
        const pause = backoffMs(backoff, tries);
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

  #behindPrefix(key: string | undefined): string {
    return (key ?? '').slice(this.#settings.prefix.length);
  }

  #fault(error: unknown): Error {
    return storeFault(error, this.#settings);
  }
}

/** The SDK's error for an aborted call does not have the reason of the abort. */
function reasonOf(ending: AbortSignal): (error: unknown) => never {
  return (error) => {
    throw ending.aborted ? ending.reason : error;
  };
}
