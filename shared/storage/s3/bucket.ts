import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  PutObjectCommand,
  S3Client,
  paginateListObjectsV2,
} from '@aws-sdk/client-s3';
import { getSignedUrl, S3RequestPresigner } from '@aws-sdk/s3-request-presigner';
import { isAbsent, isTransient, storeFault, TruncatedBody } from './faults.ts';
import { ObjectUpload } from './object-upload.ts';
import type { S3Limits, S3Settings } from './settings.ts';

/** The attempts to read a body that breaks off without a further byte. The SDK retries only until the body begins. */
const bodyAttempts = 5;

/** An object in a listing. */
export interface ListedObject {
  name: string;
  /** Bytes. */
  size: number;
  modified: Date;
  /** Differs for other bytes. */
  etag: string;
}

/**
 * The store's objects in its bucket. Names exclude the prefix.
 *
 * @throws {LecternError} INTERNAL_ERROR from every call, with a message for operators.
 */
export class Bucket {
  readonly client: S3Client;
  readonly #settings: S3Settings;
  readonly #presigner: S3RequestPresigner;
  /** The URL of an object without a name, by the SDK's rules for services and regions. */
  #baseUrl: URL | null = null;

  constructor(settings: S3Settings, limits: S3Limits) {
    const { region, endpoint, forcePathStyle, accessKeyId, secretAccessKey } = settings;
    // A stalled reader keeps its connection, which must not block others.
    const agent = { keepAlive: true, maxSockets: Infinity };
    this.#settings = settings;
    this.client = new S3Client({
      region,
      forcePathStyle,
      ...(endpoint !== undefined && { endpoint }),
      ...(accessKeyId !== undefined &&
        secretAccessKey !== undefined && { credentials: { accessKeyId, secretAccessKey } }),
      maxAttempts: limits.maxAttempts,
      // Every body is signed with its SHA-256; some compatible services reject further checksums.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      expectContinueHeader: false,
      requestHandler: {
        httpAgent: agent,
        httpsAgent: agent,
        connectionTimeout: limits.connectTimeoutMs,
        requestTimeout: limits.requestTimeoutMs,
        throwOnRequestTimeout: true,
        socketTimeout: limits.idleTimeoutMs,
      },
    });
    this.#presigner = new S3RequestPresigner({ ...this.client.config });
  }

  /** Returns the bucket, as the parameter of a command. */
  bucket(): { Bucket: string } {
    return { Bucket: this.#settings.bucket };
  }

  /** Returns an object, as the parameters of a command. */
  #object(name: string): { Bucket: string; Key: string } {
    return { ...this.bucket(), Key: this.#settings.prefix + name };
  }

  /** Checks that the bucket exists and responds. */
  async ping(): Promise<void> {
    await this.call(this.client.send(new HeadBucketCommand(this.bucket())));
  }

  /** Returns the size of an object in bytes; null if there is none. */
  async sizeOf(name: string): Promise<number | null> {
    const found = await this.#callOrAbsent(this.client.send(new HeadObjectCommand(this.#object(name))));
    return found === null ? null : (found.ContentLength ?? 0);
  }

  /** Returns the first bytes of a non-empty object, at most `length`, and its size; null if there is none. */
  async getStart(name: string, length: number): Promise<{ bytes: Buffer; size: number } | null> {
    for (let attempt = 1; ; attempt += 1) {
      const part = await this.#callOrAbsent(this.#open(name, 0, length));
      if (part === null) return null;
      try {
        const bytes = await buffer(part.body);
        if (bytes.length !== part.end)
          throw new TruncatedBody(`${name}: ${bytes.length} of ${part.end} bytes`);
        return { bytes, size: part.size };
      } catch (error) {
        if (!isTransient(error) || attempt === bodyAttempts) throw storeFault(error, this.#settings);
      }
    }
  }

  /**
   * Reads an object from `start` up to but not including `end`. If the body breaks off, it requests the rest; a reader
   * never gets fewer bytes without an error.
   */
  async *read(name: string, start: number, end: number): AsyncGenerator<Uint8Array> {
    let position = start;
    for (let attempt = 1; position < end; attempt += 1) {
      const { body } = await this.call(this.#open(name, position, end));
      try {
        for await (const chunk of body as AsyncIterable<Uint8Array>) {
          position += chunk.byteLength;
          if (position > end) throw new Error(`${name}: the service sent more bytes than requested`);
          attempt = 0;
          yield chunk;
        }
        if (position < end) throw new TruncatedBody(`${name} ends at byte ${position} of ${end}`);
      } catch (error) {
        if (!isTransient(error) || attempt === bodyAttempts) throw storeFault(error, this.#settings);
      }
    }
  }

  /** Writes or replaces a small object, atomically. */
  async put(name: string, bytes: Uint8Array): Promise<void> {
    await this.call(this.client.send(new PutObjectCommand({ ...this.#object(name), Body: bytes })));
  }

  /** Starts to write or replace an object of any size, which appears when it is finished. */
  upload(name: string, partBytes: number): ObjectUpload {
    const options = { client: this.client, params: this.#object(name), partSize: partBytes };
    return new ObjectUpload(options, (error) => storeFault(error, this.#settings));
  }

  /** Deletes an object, if it exists. */
  async delete(name: string): Promise<void> {
    await this.#callOrAbsent(this.client.send(new DeleteObjectCommand(this.#object(name))));
  }

  /** Lists the objects whose names begin with a text, page by page, ordered by name. */
  async *list(start: string): AsyncGenerator<ListedObject[]> {
    const { prefix } = this.#settings;
    const pages = paginateListObjectsV2(
      { client: this.client },
      { ...this.bucket(), Prefix: prefix + start },
    );
    for (;;) {
      const page = await this.call(pages.next());
      if (page.done === true) return;
      yield (page.value.Contents ?? []).map(({ Key = '', Size, LastModified, ETag }) => ({
        name: Key.slice(prefix.length),
        size: Size ?? 0,
        modified: LastModified ?? new Date(),
        etag: ETag ?? '',
      }));
    }
  }

  /**
   * Returns a URL that lets anyone read an object.
   *
   * @param options.response headers of the response, such as `content-type`.
   */
  async presign(
    name: string,
    { seconds, response = {} }: { seconds: number; response?: Record<string, string> },
  ): Promise<URL> {
    // Signing alone takes a tenth of the CPU time of a whole command, and a manifest has thousands of URLs.
    this.#baseUrl ??= new URL(
      await this.call(getSignedUrl(this.client, new GetObjectCommand(this.#object('x')))),
    );
    const url = new URL(this.#baseUrl.pathname.slice(0, -1) + name, this.#baseUrl);
    const { query = {} } = await this.call(
      this.#presigner.presign(
        {
          method: 'GET',
          protocol: url.protocol,
          hostname: url.hostname,
          path: url.pathname,
          query: Object.fromEntries(
            Object.entries(response).map(([key, value]) => [`response-${key}`, value]),
          ),
          headers: { host: url.host },
        },
        { expiresIn: seconds },
      ),
    );
    url.search = Object.entries(query)
      .map(([key, value]) => `${encode(key)}=${encode(String(value))}`)
      .join('&');
    return url;
  }

  /** Requests a range of an object. */
  async #open(
    name: string,
    start: number,
    end: number,
  ): Promise<{ body: Readable; size: number; end: number }> {
    const range = { Range: `bytes=${start}-${end - 1}` };
    const { Body, ContentRange, ContentLength } = await this.client.send(
      new GetObjectCommand({ ...this.#object(name), ...range }),
    );
    const body = Body as Readable;
    const [, first, last, size] = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(ContentRange ?? '') ?? [];
    if (Number(first) === start) return { body, size: Number(size), end: Number(last) + 1 };
    // A service may send the whole object if the range covers it.
    if (ContentRange === undefined && start === 0 && ContentLength !== undefined) {
      return { body, size: ContentLength, end: ContentLength };
    }
    body.destroy();
    throw new Error(`Requested bytes from ${start}, but the service sent "${ContentRange}"`);
  }

  /** Awaits a call. @throws its failure as an error for operators. */
  async call<T>(result: Promise<T>): Promise<T> {
    return result.catch((error: unknown) => {
      throw storeFault(error, this.#settings);
    });
  }

  /** Returns null if the object does not exist. */
  async #callOrAbsent<T>(result: Promise<T>): Promise<T | null> {
    return this.call<T | null>(
      result.catch((error: unknown) => {
        if (isAbsent(error)) return null;
        throw error;
      }),
    );
  }
}

/** Encodes as RFC 3986 defines; encodeURIComponent leaves some characters. */
function encode(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
