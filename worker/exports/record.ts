import { createHash } from 'node:crypto';
import type { Database } from '../../shared/models/database.ts';
import { deleteExportRecord, saveExportRecord } from '../../shared/models/export-record.ts';
import type { BuiltExport, ExportEntry, ExportRecord } from '../../shared/models/export-record.ts';

/** Returns a digest of an archive's content: everything except manifest.json. */
export function contentDigest(entries: Iterable<ExportEntry>): string {
  const hash = createHash('sha256');
  for (const { path, size, sha256 } of entries) hash.update(`${path}\n${size}\n${sha256}\n`);
  return hash.digest('hex');
}

/**
 * Records an archive before it is published, or compares it with the record from before its build. Archives of equal
 * content must be equal byte for byte, because a download of the older one may resume with this one.
 *
 * @throws when they differ. This deletes the record, so that the next build gets a new archive time.
 */
export async function recordArchive(
  db: Database,
  built: BuiltExport,
  before: ExportRecord | null,
): Promise<void> {
  if (before?.contentDigest !== built.contentDigest) return saveExportRecord(db, built);
  if (before.archive.sha256 === built.archive.sha256) return;
  await deleteExportRecord(db, before);
  throw new Error(
    `The archive of the same content was ${before.archive.sha256}, and is ${built.archive.sha256} now`,
  );
}
