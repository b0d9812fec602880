import { createHash } from 'node:crypto';
import { limitRecords } from '../../shared/exports/unused-records.ts';
import type { RecordDependencies } from '../../shared/exports/unused-records.ts';
import { deleteExportRecord, saveExportRecord } from '../../shared/models/export-record.ts';
import { useExportRecord } from '../../shared/models/export-record-use.ts';
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
  deps: RecordDependencies,
  built: BuiltExport,
  before: ExportRecord | null,
): Promise<void> {
  if (before?.contentDigest !== built.contentDigest) return addRecord(deps, built);
  if (before.archive.sha256 === built.archive.sha256) {
    // A sweep may have removed the record during the build.
    if (!(await useExportRecord(deps.db, built))) await addRecord(deps, built);
    return;
  }
  await deleteExportRecord(deps.db, before);
  throw new Error(
    `The archive of the same content was ${before.archive.sha256}, and is ${built.archive.sha256} now`,
  );
}

/** Writes the record of a build, and removes others that are not needed if the organization has too many. */
export async function addRecord(deps: RecordDependencies, built: BuiltExport): Promise<void> {
  await saveExportRecord(deps.db, built);
  await limitRecords(deps, built.organizationId);
}
