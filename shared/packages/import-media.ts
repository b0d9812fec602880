import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import pLimit from 'p-limit';
import { inspect, sniffBytes } from '../media/content-types.ts';
import { Mp4Codecs } from '../media/mp4-codecs.ts';
import { passiveFormat } from '../media/file-formats.ts';
import { repairFile, RepairFault, repairLimit } from '../media/repaired-files.ts';
import type { RepairedFile } from '../media/repaired-files.ts';
import type { Database } from '../models/database.ts';
import { insertMedia } from '../models/medium.ts';
import type { Organization } from '../models/organization.ts';
import type { StorageQuota } from '../models/stored-bytes.ts';
import type { Digest, Store } from '../storage/store.ts';
import { storeAsset } from '../assets/stored-assets.ts';
import type { TaskOptions } from '../platform/tasks.ts';
import { bytesOf } from '../storage/digest.ts';
import type { PackageFile, PackageFiles, PackageMedium } from './lesson-package.ts';
import { checkDigest } from './checked-stream.ts';
import { shownPath } from './entry-name.ts';
import { unshownUses } from './media-uses.ts';
import { PackageError } from './package-error.ts';

/** The number of files that are written to the store concurrently; each write waits for the disk. */
const concurrency = 4;

/**
 * Stores the media of a version that does not exist yet.
 *
 * @returns what was changed in files, and which files browsers do not show, for authors
 * @throws {PackageError} when a file is damaged or does not match manifest.json; the caller then removes the stored
 *   media
 * @throws {LecternError} PAYLOAD_TOO_LARGE
 */
export async function storeMedia(
  { db, store }: { db: Database; store: Store },
  organization: Organization,
  pkg: PackageFiles,
  { versionId, quota, signal }: { versionId: string; quota: StorageQuota; signal: AbortSignal },
): Promise<string[]> {
  const rowOf = (medium: PackageMedium, asset: Digest | null) => ({
    organizationId: organization._id,
    versionId,
    mediaId: medium.id,
    ...passiveFormat(medium.mimeType, medium.extension),
    asset,
    sourceUrl: asset === null ? (medium.sourceUrl ?? null) : null,
    attributions: medium.attributions,
  });
  const owner = { organizationId: organization._id, signal };
  const external = pkg.media.filter(({ file }) => file === undefined);
  await insertMedia(
    db,
    external.map((medium) => rowOf(medium, null)),
  );

  const notes = new Map<PackageMedium, string[]>();
  const limit = pLimit(concurrency);
  const failed = new AbortController();
  const storing = pkg.media.map((medium) =>
    limit(async () => {
      const { file } = medium;
      if (failed.signal.aborted || file === undefined) return;
      signal.throwIfAborted();
      const source = file.open();
      try {
        const { head, whole, codes } = await withHead(source);
        const mimeType = await realType(medium, file.path, head);
        const repaired = await repairedFile({ ...medium, mimeType }, file, whole, owner);
        const bytes = repaired === null ? whole : bytesOf(repaired.bytes);
        await storeAsset(db, store, bytes, async (asset) => {
          // A repaired file may differ from the package's, whose digest was checked.
          if (repaired === null) checkDigest(file.path, asset, medium.sha256);
          await quota.addFile(asset);
          // Before the file is stored, so that a crash leaves no file without a reference.
          await insertMedia(db, [rowOf({ ...medium, mimeType }, asset)]);
        });
        const shown = { name: shownPath(file.path), mimeType, codecs: { head, codes } };
        notes.set(medium, [...(repaired?.changes ?? []), ...unshownUses(medium, shown)]);
      } finally {
        source.destroy();
      }
    }).catch((error: unknown) => {
      failed.abort();
      throw error;
    }),
  );
  // Waits for all of them before it throws the first failure: media stored after the undo would remain.
  for (const result of await Promise.allSettled(storing)) {
    if (result.status === 'rejected') throw result.reason;
  }
  return pkg.media.flatMap((medium) => notes.get(medium) ?? []);
}

/** Reads the first bytes of a file. `whole` yields these and the rest; afterward, `codes` has its codecs. */
export async function withHead(
  source: Readable,
): Promise<{ head: Buffer; whole: AsyncIterable<Uint8Array>; codes: ReadonlySet<string> }> {
  const chunks = source.iterator({ destroyOnReturn: false }) as AsyncIterableIterator<Buffer, undefined>;
  let head: Buffer = Buffer.alloc(0);
  while (head.length < sniffBytes) {
    const next = await chunks.next();
    if (next.done === true) break;
    head = head.length === 0 ? next.value : Buffer.concat([head, next.value]);
  }
  const codecs = new Mp4Codecs();
  async function* whole(): AsyncGenerator<Uint8Array> {
    codecs.push(head);
    if (head.length > 0) yield head;
    for await (const chunk of chunks) {
      codecs.push(chunk);
      yield chunk;
    }
  }
  return { head: head.subarray(0, sniffBytes), whole: whole(), codes: codecs.found };
}

/**
 * Reads a file and returns it as {@link repairFile} does, with the changes as warnings; null for types whose files keep
 * their bytes.
 *
 * @throws {PackageError} for a file that browsers cannot show, or that differs from its digest in manifest.json
 */
export async function repairedFile(
  { mimeType, sha256 }: Pick<PackageMedium, 'mimeType' | 'sha256'>,
  { path, size }: Pick<PackageFile, 'path' | 'size'>,
  source: AsyncIterable<Uint8Array>,
  owner: Omit<TaskOptions, 'what'>,
): Promise<RepairedFile | null> {
  const limit = repairLimit(mimeType);
  if (limit === null) return null;
  const no = (fault: string) =>
    new PackageError([`${shownPath(path)}: bad_type: the file is ${fault}. Replace the file.`]);
  if (size > limit) throw no(`larger than ${limit / 1024} KiB`);
  const chunks: Uint8Array[] = [];
  for await (const chunk of source) chunks.push(chunk);
  const bytes = Buffer.concat(chunks);
  checkDigest(path, { sha256: createHash('sha256').update(bytes).digest('hex') }, sha256);
  try {
    const repaired = await repairFile(mimeType, bytes, owner);
    return {
      ...repaired,
      changes: repaired.changes.map((change) => `${shownPath(path)}: the captions ${change}`),
    };
  } catch (error) {
    if (error instanceof RepairFault) throw no(error.message);
    throw error;
  }
}

/**
 * Returns the MIME type of a file: the declared type, or a related one that its first bytes show.
 *
 * @throws {PackageError} when the first bytes contradict the declared type, or the file is empty
 */
export async function realType(
  { mimeType: declared }: Pick<PackageMedium, 'mimeType'>,
  path: string,
  head: Buffer,
): Promise<string> {
  if (head.length === 0) {
    throw new PackageError([`${shownPath(path)}: is empty. Replace the file, or remove it from the lesson.`]);
  }
  const { contradiction, mimeType } = await inspect(declared, head);
  if (contradiction === null) return mimeType;
  throw new PackageError([
    `${shownPath(path)}: bad_type: the file is ${contradiction}, and manifest.json declares ${declared}. Replace the file, or correct its mimeType.`,
  ]);
}
