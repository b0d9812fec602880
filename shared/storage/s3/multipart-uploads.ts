import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  ListMultipartUploadsCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import type { S3Calls } from './calls.ts';
import { isUploadGone } from './faults.ts';

/** Uploads per page of a listing: the most that S3 returns. */
const listPage = 1000;

export interface UploadedPart {
  PartNumber: number;
  ETag: string | undefined;
}

/** Uploads of objects in parts. */
export class MultipartUploads {
  readonly #calls: S3Calls;

  constructor(calls: S3Calls) {
    this.#calls = calls;
  }

  /** Starts a multipart upload, whose object exists only after its completion; returns the upload's id. */
  async start(name: string): Promise<string> {
    const object = { ...this.#calls.object(name), ContentType: 'application/octet-stream' };
    const { UploadId } = await this.#calls.run((abortSignal) =>
      this.#calls.client.send(new CreateMultipartUploadCommand(object), { abortSignal }),
    );
    if (UploadId === undefined) throw this.#calls.fault(new Error('An upload got no id'));
    return UploadId;
  }

  /** @param signal aborts the attempts. */
  async sendPart(
    name: string,
    uploadId: string,
    { number, bytes, signal }: { number: number; bytes: Uint8Array; signal: AbortSignal },
  ): Promise<UploadedPart> {
    const part = { ...this.#calls.object(name), UploadId: uploadId, PartNumber: number, Body: bytes };
    const { ETag } = await this.#calls.run(
      (abortSignal) =>
        this.#calls.client.send(new UploadPartCommand(part), {
          abortSignal: AbortSignal.any([abortSignal, signal]),
        }),
      { timeoutMs: this.#calls.limits.uploadTimeoutMs, signal },
    );
    return { PartNumber: number, ETag };
  }

  /**
   * Completes an upload. The caller must check the object's size: an attempt with a lost response may already have
   * completed the upload.
   */
  async complete(name: string, uploadId: string, parts: UploadedPart[]): Promise<void> {
    const upload = { ...this.#calls.object(name), UploadId: uploadId, MultipartUpload: { Parts: parts } };
    await this.#calls.run(
      async (abortSignal) => {
        try {
          await this.#calls.client.send(new CompleteMultipartUploadCommand(upload), { abortSignal });
        } catch (error) {
          if (!isUploadGone(error)) throw error;
        }
      },
      { timeoutMs: this.#calls.limits.completionTimeoutMs },
    );
  }

  /** Aborts an upload with one attempt; a sweep aborts the remaining ones. */
  async abort(name: string, uploadId: string): Promise<void> {
    const upload = { ...this.#calls.object(name), UploadId: uploadId };
    await this.#calls.run(
      async (abortSignal) => {
        try {
          await this.#calls.client.send(new AbortMultipartUploadCommand(upload), { abortSignal });
        } catch (error) {
          if (!isUploadGone(error)) throw error;
        }
      },
      { retryBudgetMs: 0 },
    );
  }

  /** Lists the first thousand uploads that were neither completed nor aborted. */
  async list(start: string): Promise<{ name: string; uploadId: string; started: Date }[]> {
    const request = {
      ...this.#calls.bucket(),
      Prefix: this.#calls.settings.prefix + start,
      MaxUploads: listPage,
    };
    const { Uploads } = await this.#calls.run((abortSignal) =>
      this.#calls.client.send(new ListMultipartUploadsCommand(request), { abortSignal }),
    );
    return (Uploads ?? []).map(({ Key, UploadId, Initiated }) => ({
      name: this.#calls.nameOf(Key),
      uploadId: UploadId ?? '',
      started: Initiated ?? new Date(),
    }));
  }
}
