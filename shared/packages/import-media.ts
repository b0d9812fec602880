import pLimit from 'p-limit';
import { inspect, sniffBytes } from '../media/downloads/content-types.ts';
import type { Database } from '../models/database.ts';
import { insertMedia } from '../models/medium.ts';
import type { Organization } from '../models/organization.ts';
import type { Digest, Store } from '../storage/store.ts';
import { storeAsset } from '../assets/stored-assets.ts';
import type { LessonPackage, PackageMedium } from './lesson-package.ts';
import { checkDigest } from './checked-stream.ts';
import { shownPath } from './entry-name.ts';
import { PackageError } from './package-error.ts';

/** The number of files that are written to the store concurrently; each write waits for the disk. */
const concurrency = 4;

/**
 * Stores the media of a version that does not exist yet.
 *
 * @throws {PackageError} when a file is damaged or does not match manifest.json; the caller then removes the stored
 *   media
 */
export async function storeMedia(
  { db, store }: { db: Database; store: Store },
  organization: Organization,
  pkg: LessonPackage,
  { versionId, signal }: { versionId: string; signal: AbortSignal },
): Promise<void> {
  const rowOf = (medium: PackageMedium, asset: Digest | null) => ({
    organizationId: organization._id,
    versionId,
    mediaId: medium.id,
    mimeType: medium.mimeType,
    extension: medium.extension,
    asset,
    sourceUrl: asset === null ? (medium.sourceUrl ?? null) : null,
    attributions: medium.attributions,
  });
  const external = pkg.media.filter(({ file }) => file === undefined);
  await insertMedia(
    db,
    external.map((medium) => rowOf(medium, null)),
  );

  const limit = pLimit(concurrency);
  const failed = new AbortController();
  const storing = pkg.media.map((medium) =>
    limit(async () => {
      const { file } = medium;
      if (failed.signal.aborted || file === undefined) return;
      signal.throwIfAborted();
      const head: Buffer[] = [];
      await storeAsset(db, store, keepHead(await file.open(), head), async (asset) => {
        checkDigest(file.path, asset, medium.sha256);
        const mimeType = await realType(medium, file.path, Buffer.concat(head));
        // Before the file is stored, so that a crash leaves no file without a reference.
        await insertMedia(db, [rowOf({ ...medium, mimeType }, asset)]);
      });
    }).catch((error: unknown) => {
      failed.abort();
      throw error;
    }),
  );
  // Waits for all of them before it throws the first failure: media stored after the undo would remain.
  for (const result of await Promise.allSettled(storing)) {
    if (result.status === 'rejected') throw result.reason;
  }
}

/** Passes bytes on, and copies the first ones into `head`. */
async function* keepHead(source: AsyncIterable<Uint8Array>, head: Buffer[]): AsyncGenerator<Uint8Array> {
  let missing = sniffBytes;
  for await (const chunk of source) {
    if (missing > 0) head.push(Buffer.from(chunk.subarray(0, missing)));
    missing -= chunk.length;
    yield chunk;
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
