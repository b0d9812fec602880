import { signAssetUrl } from '../../shared/media/asset-urls.ts';
import { incompleteKey } from '../../shared/exports/jobs.ts';
import { profileOf } from '../../shared/exports/profiles.ts';
import { recordSignedUrls } from '../../shared/models/export-record.ts';
import type { ExportEntry } from '../../shared/models/export-record.ts';
import type { StoredArchive } from '../../shared/storage/store.ts';
import { isInert } from '../media/inert-types.ts';
import { signedManifestJson } from './present-export-manifest.ts';
import { ArchiveFiles } from './archive-files.ts';
import type { AuthorizedExport, ExportDependencies } from './authorize.ts';

/** The contract's validity of signed addresses. */
const signedSeconds = 4 * 3600;

/** How much longer files are kept: as long as it may take to bring those back that were evicted. */
const marginSeconds = 3600;

type ManifestDependencies = Pick<ExportDependencies, 'db' | 'store' | 'secrets' | 'coordination'>;

/**
 * The manifest of an archive with an address for each file, as the JSON of a `SignedManifest`, in pieces. All files are
 * in the store when this resolves, and stay there while the addresses are good. Null when no record tells of them.
 *
 * @param archive is read, and left open; nothing of it is read any more when this resolves.
 * @param request.base what addresses on this service begin with.
 * @throws when a file cannot be brought back into the store.
 */
export async function createExportManifest(
  deps: ManifestDependencies,
  archive: StoredArchive,
  request: AuthorizedExport & { base: string; signal: AbortSignal },
): Promise<Buffer[] | null> {
  const { version, job, base, signal } = request;
  const keptUntil = inSeconds(signedSeconds + marginSeconds);
  const { organizationId } = version;
  const signed = { exportKeys: [job.key, incompleteKey(job.key)], sha256: archive.sha256, organizationId };
  const record = await recordSignedUrls(deps.db, signed, keptUntil);
  if (record === null) return null;
  const files = new ArchiveFiles(archive, record, profileOf(job).rootFolder(job));
  // Before the files are looked for: from then on none goes that is within the organization's share.
  await deps.coordination.usage.addOwner(organizationId, files.cached());
  await deps.coordination.usage.pinUntil(files.cached(), keptUntil);
  await files.restore(deps.store, signal);
  const manifest = await files.manifest();
  const expiresAt = new Date(Math.min(keptUntil.getTime(), inSeconds(signedSeconds).getTime()));
  const addressOf = (localPath: string, mimeType: string) =>
    signedAddress(deps, files.find(localPath), { mimeType, base, expiresAt });
  // As bytes, which are the least of what is held here: a slow client keeps them until it has them all.
  const json: Buffer[] = [];
  for await (const piece of signedManifestJson(manifest, { addressOf, expiresAt })) {
    signal.throwIfAborted();
    json.push(Buffer.from(piece));
  }
  return json;
}

/** Straight to the store where that gives addresses of its own, else to this service. */
async function signedAddress(
  { store, secrets }: ManifestDependencies,
  { path, area, sha256, size }: ExportEntry,
  { mimeType, base, expiresAt }: { mimeType: string; base: string; expiresAt: Date },
): Promise<string> {
  const contentType = isInert(mimeType) ? mimeType : 'application/octet-stream';
  const stored = await store[area].presignedUrl(sha256, { seconds: signedSeconds, contentType });
  if (stored !== null) return stored;
  const fileName = path.slice(path.lastIndexOf('/') + 1);
  const asset = { area, sha256, size, mimeType, fileName };
  return signAssetUrl(secrets.asset, asset, { base, until: expiresAt }).url;
}

/** Whole seconds, as addresses have them. */
function inSeconds(seconds: number): Date {
  return new Date((Math.floor(Date.now() / 1000) + seconds) * 1000);
}
