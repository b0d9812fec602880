import { createHash } from 'node:crypto';
import type { Database } from '../../shared/models/database.ts';
import { deleteExportRecord, saveExportRecord } from '../../shared/models/export-record.ts';
import type { BuiltExport, ExportEntry, ExportRecord } from '../../shared/models/export-record.ts';

/** What tells archives of one export apart: all that they hold, but for manifest.json. */
export function contentDigest(entries: Iterable<ExportEntry>): string {
  const hash = createHash('sha256');
  for (const { path, size, sha256 } of entries) hash.update(`${path}\n${size}\n${sha256}\n`);
  return hash.digest('hex');
}

/**
 * Records an archive before it is published, or holds it against the record that its build began with. Equal content
 * has to be equal byte for byte: a download of the older archive may go on with this one.
 *
 * @throws when it is not. The record is gone then, so that the next try makes an archive of its own time.
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
