import type { ExportStatus } from './api.ts';
import { ConnectionError, LecternError, VerificationError } from './errors.ts';
import { follow } from './follow.ts';
import { delay, readChunks, retryDelayMs } from './http.ts';
import type { Http, Parts, RequestOptions } from './http.ts';

const archiveRoute = 'GET /api/lessons/{lessonId}/versions/{versionId}/export-zip';
const statusRoute = 'GET /api/lessons/{lessonId}/versions/{versionId}/export-status';
/** The maximum number of interruptions in a row, without a byte between them. */
const maxInterruptions = 5;
/** The maximum number of builds: another client may cancel one, or Lectern may evict its archive at once. */
const maxBuilds = 3;

export interface DownloadOptions extends RequestOptions {
  /** Called while Lectern builds the archive. */
  onBuild?: (status: ExportStatus) => void;
  /** Called as bytes arrive. */
  onProgress?: (progress: { bytes: number; totalBytes: number }) => void;
}

/** A hash over the bytes so far; `createHash` of `node:crypto` returns one. */
interface Hash {
  update(bytes: Uint8Array): unknown;
  digest(encoding: 'base64'): string;
}

/** The position that a download has reached. */
export interface Position {
  offset: number;
  /** The ETag of the archive that the bytes belong to. */
  etag: string | null;
  /** Over the bytes so far. */
  hash: Hash;
}

/** Returns a hash from `node:crypto`, imported on demand, so that bundles for browsers need no substitute. */
export async function sha256(): Promise<Hash> {
  return (await import('node:crypto')).createHash('sha256');
}

export function isFinalExport({ status }: ExportStatus): boolean {
  return status === 'ready' || status === 'failed' || status === 'none';
}

/** Requests an archive. If Lectern has to build it first, follows the build. @throws {LecternError} why the build failed. */
async function openArchive(
  http: Http,
  parts: Parts,
  headers: Record<string, string>,
  options: DownloadOptions,
): Promise<Response> {
  for (let builds = 0; builds < maxBuilds; builds += 1) {
    const preferring = { ...parts, headers: { ...headers, prefer: 'respond-async' } };
    const response = await http.open(archiveRoute, preferring, options);
    if (response.status !== 202) return response;
    await response.body?.cancel();
    for await (const status of follow(http, statusRoute, parts, isFinalExport, options)) {
      options.onBuild?.(status);
      const { error } = status;
      if (status.status === 'failed') {
        throw new LecternError(error?.code ?? 'INTERNAL_ERROR', error?.message ?? 'The export failed');
      }
    }
  }
  throw new LecternError('CONFLICT', 'The export was canceled each time');
}

/** Asks Lectern to build an archive, and waits for it. @throws {LecternError} why the build failed. */
export async function prepare(http: Http, parts: Parts, options: DownloadOptions = {}): Promise<void> {
  const { body } = await openArchive(http, parts, { range: 'bytes=0-0' }, options);
  await body?.cancel();
}

/**
 * Yields the bytes of an archive from a position on. It resumes after interruptions, and checks the SHA-256 at the end.
 *
 * @throws {VerificationError} DIGEST_MISMATCH; ARCHIVE_CHANGED if Lectern no longer has the archive of `position`.
 */
export async function* readArchive(
  http: Http,
  parts: Parts,
  position: Position,
  options: DownloadOptions = {},
): AsyncGenerator<Uint8Array> {
  let digest: string | undefined;
  for (let interruptions = 0; ; interruptions += 1) {
    const { etag, offset } = position;
    const headers: Record<string, string> =
      etag === null ? {} : { range: `bytes=${offset}-`, 'if-range': etag };
    const response = await openArchive(http, parts, headers, options).catch((error: unknown) => {
      if (error instanceof LecternError && error.status === 416) throw changed();
      throw error;
    });
    if (etag !== null && response.status !== 206) {
      await response.body?.cancel();
      throw changed();
    }
    position.etag = response.headers.get('etag');
    digest = /sha-256=:(.+?):/.exec(response.headers.get('repr-digest') ?? '')?.[1];
    const totalBytes = position.offset + Number(response.headers.get('content-length'));
    try {
      for await (const chunk of readChunks(response, options)) {
        interruptions = 0;
        position.offset += chunk.length;
        position.hash.update(chunk);
        options.onProgress?.({ bytes: position.offset, totalBytes });
        yield chunk;
      }
      if (position.offset >= totalBytes) break;
      throw new ConnectionError('CONNECTION_FAILED', 'The body ended early');
    } catch (error) {
      const delayMs = retryDelayMs(error, interruptions);
      if (delayMs === null || interruptions >= maxInterruptions) throw error;
      await delay(delayMs, options.signal);
    }
  }
  const actual = position.hash.digest('base64');
  if (actual === digest) return;
  const expected = digest === undefined ? 'the response has no Repr-Digest' : `Repr-Digest has ${digest}`;
  throw new VerificationError('DIGEST_MISMATCH', `The bytes have the SHA-256 ${actual}; ${expected}`);
}

function changed(): VerificationError {
  return new VerificationError('ARCHIVE_CHANGED', 'The archive has changed since the download began');
}
