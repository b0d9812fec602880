import { signAssetUrl } from '../../shared/media/asset-urls.ts';
import { incompleteKey } from '../../shared/exports/jobs.ts';
import { profileOf } from '../../shared/exports/profiles.ts';
import { findArchiveRecord } from '../../shared/models/export-record.ts';
import type { ExportEntry } from '../../shared/models/export-record.ts';
import type { StoredArchive } from '../../shared/storage/store.ts';
import { isInert } from '../media/inert-types.ts';
import { signedManifestJson } from './present-export-manifest.ts';
import { ArchiveFiles } from './archive-files.ts';
import type { AuthorizedExport, ExportDependencies } from './authorize.ts';

/** How long signed URLs are valid (docs/export.md). */
const urlSeconds = 4 * 3600;

type ManifestDependencies = Pick<ExportDependencies, 'db' | 'store' | 'secrets'>;

/**
 * Returns the manifest of an archive with a signed URL for each file, as the JSON of a `SignedManifest` in pieces; null
 * when the archive has no record. Ensures that all files are in the store, where eviction leaves them until the URLs expire.
 *
 * @param archive stays open, and is not read after this resolves.
 * @param request.base the beginning of URLs on this service.
 * @throws when a file cannot be restored to the store.
 */
export async function createExportManifest(
  deps: ManifestDependencies,
  archive: StoredArchive,
  request: AuthorizedExport & { base: string; signal: AbortSignal },
): Promise<Buffer[] | null> {
  const { job, base, signal } = request;
  const exportKeys = [job.key, incompleteKey(job.key)];
  const record = await findArchiveRecord(deps.db, { exportKeys, sha256: archive.sha256 });
  if (record === null) return null;
  const files = new ArchiveFiles(archive, record, profileOf(job).rootFolder(job));
  await files.restore(deps.store, signal);
  const manifest = await files.manifest();
  const expiresAt = inSeconds(urlSeconds);
  const signUrl = (localPath: string, mimeType: string) =>
    signedUrl(deps, files.find(localPath), { mimeType, base, expiresAt });
  // Bytes take the least memory until a slow client has received them.
  const json: Buffer[] = [];
  for await (const piece of signedManifestJson(manifest, { signUrl, expiresAt })) {
    signal.throwIfAborted();
    json.push(Buffer.from(piece));
  }
  return json;
}

/** Returns a URL of the store where it offers presigned reads, otherwise one of this service. */
async function signedUrl(
  { store, secrets }: ManifestDependencies,
  { path, area, sha256, size }: ExportEntry,
  { mimeType, base, expiresAt }: { mimeType: string; base: string; expiresAt: Date },
): Promise<string> {
  const contentType = isInert(mimeType) ? mimeType : 'application/octet-stream';
  const stored = await store[area].presignedUrl(sha256, {
    seconds: urlSeconds,
    contentType,
    // The bucket cannot send the policy with which Lectern keeps an opened SVG from running scripts.
    contentDisposition: 'attachment',
  });
  if (stored !== null) return stored;
  const fileName = path.slice(path.lastIndexOf('/') + 1);
  const asset = { area, sha256, size, mimeType, fileName };
  return signAssetUrl(secrets.asset, asset, { base, until: expiresAt }).url;
}

/** Returns the time in `seconds` from now, rounded to whole seconds as in signed URLs. */
function inSeconds(seconds: number): Date {
  return new Date((Math.floor(Date.now() / 1000) + seconds) * 1000);
}
