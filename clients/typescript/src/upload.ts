import type { LessonImport } from './api.ts';
import { LecternError } from './errors.ts';
import { delay, retryDelayMs, withKey } from './http.ts';
import type { CreateOptions, Http } from './http.ts';

export interface ImportOptions extends CreateOptions {
  /** The name of the package in messages. */
  fileName?: string;
  /** Publishes the version. */
  publish?: boolean;
  /** With `publish`: publishes a lesson that cannot be played yet. */
  force?: boolean;
  /** Gives lesson, version and media new ids. */
  asNew?: boolean;
  /** Media stay at this URL under their file names. */
  mediaBaseUrl?: string;
  /** Called as bytes arrive at Lectern. */
  onProgress?: (progress: { bytes: number; totalBytes: number }) => void;
}

const route = '/api/lessons/imports/{importId}';
const tus = { 'tus-resumable': '1.0.0' };
const partBytes = 8 * 1024 ** 2;
const partTimeoutMs = 300_000;
/** The maximum number of interruptions in a row, without a byte between them. */
const maxInterruptions = 8;

/** Uploads a package (tus 1.0) and returns its import, which waits for a worker. It resumes after interruptions. */
export async function upload(http: Http, zip: Blob, options: ImportOptions = {}): Promise<LessonImport> {
  const { fileName, publish, force, asNew, mediaBaseUrl, onProgress, ...request } = options;
  const metadata = metadataOf({ filename: fileName, publish, force, asNew, mediaBaseUrl });
  const headers = {
    ...tus,
    'upload-length': String(zip.size),
    ...(metadata !== '' && { 'upload-metadata': metadata }),
  };
  const created = await http.json('POST /api/lessons/imports', await withKey({ headers }, request), request);
  const params = { importId: created.id };
  let offset = created.upload.offset;
  for (let interruptions = 0; offset < zip.size;) {
    const before = offset;
    const bytes = zip.slice(offset, offset + partBytes);
    const patch = {
      ...{ ...tus, 'upload-offset': String(offset) },
      'content-type': 'application/offset+octet-stream',
    };
    try {
      const once = { timeoutMs: partTimeoutMs, ...request, maxRetries: 0 };
      offset = offsetOf(await http.open(`PATCH ${route}`, { params, headers: patch, bytes }, once));
    } catch (error) {
      // 409: the bytes have arrived, although there was no response.
      const isBehind = error instanceof LecternError && error.status === 409;
      const delayMs = isBehind ? 0 : retryDelayMs(error, interruptions);
      if (delayMs === null || interruptions >= maxInterruptions) throw error;
      await delay(delayMs, request.signal);
      offset = offsetOf(await http.open(`HEAD ${route}`, { params, headers: tus }, request));
    }
    interruptions = offset > before ? 0 : interruptions + 1;
    onProgress?.({ bytes: offset, totalBytes: zip.size });
  }
  return http.json(`GET ${route}`, { params }, request);
}

function offsetOf({ headers }: Response): number {
  return Number(headers.get('upload-offset'));
}

function metadataOf(given: Record<string, string | boolean | undefined>): string {
  return Object.entries(given)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => `${key} ${base64Of(String(value))}`)
    .join(',');
}

function base64Of(text: string): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)));
}
