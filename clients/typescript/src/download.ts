import { readArchive, sha256 } from './archive.ts';
import type { DownloadOptions, Position } from './archive.ts';
import { VerificationError } from './errors.ts';
import type { Http, Parts } from './http.ts';

/** Where an archive was stored. */
export interface Download {
  path: string;
  bytes: number;
  etag: string;
}

/**
 * Downloads an archive into a file. The bytes go to `path.part` first, and `path.part.etag` names their archive: a later
 * call continues there, even in another process. The file appears under `path` when it is complete and verified.
 */
export async function download(
  http: Http,
  parts: Parts,
  path: string,
  options: DownloadOptions = {},
): Promise<Download> {
  try {
    return await attempt(http, parts, path, options);
  } catch (error) {
    // The first attempt has removed the bytes of an earlier archive, so the second begins at 0.
    if (error instanceof VerificationError && error.code === 'ARCHIVE_CHANGED')
      return attempt(http, parts, path, options);
    throw error;
  }
}

async function attempt(http: Http, parts: Parts, path: string, options: DownloadOptions): Promise<Download> {
  const { open, rename, rm, writeFile } = await import('node:fs/promises');
  const part = `${path}.part`;
  const note = `${part}.etag`;
  const position = await positionOf(part, note);
  let file = position.etag === null ? null : await open(part, 'a');
  try {
    for await (const chunk of readArchive(http, parts, position, options)) {
      if (file === null) {
        // In this order, so that bytes of one archive are never beside the ETag of another.
        await rm(part, { force: true });
        await writeFile(note, position.etag ?? '');
        file = await open(part, 'w');
      }
      await file.writeFile(chunk);
    }
    await file?.sync();
  } catch (error) {
    if (error instanceof VerificationError)
      await Promise.all([note, part].map((one) => rm(one, { force: true })));
    throw error;
  } finally {
    await file?.close();
  }
  await rename(part, path);
  await rm(note, { force: true });
  return { path, bytes: position.offset, etag: position.etag ?? '' };
}

/** Returns the position from which a download continues: 0, unless an earlier call has left a part. */
async function positionOf(part: string, note: string): Promise<Position> {
  const { open, readFile } = await import('node:fs/promises');
  const hash = await sha256();
  const etag = await readFile(note, 'utf8').catch(() => '');
  const file = etag === '' ? null : await open(part, 'r').catch(() => null);
  if (file === null) return { offset: 0, etag: null, hash };
  let offset = 0;
  try {
    for await (const chunk of file.createReadStream({ autoClose: false })) {
      hash.update(chunk as Uint8Array);
      offset += (chunk as Uint8Array).length;
    }
  } finally {
    await file.close();
  }
  return offset === 0 ? { offset, etag: null, hash } : { offset, etag, hash };
}
