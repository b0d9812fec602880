import { countResults } from '../../shared/lessons/loss-report.ts';
import type { ImportLease } from '../../shared/models/import-queue.ts';
import type { ImportReport, LessonImport } from '../../shared/models/lesson-import.ts';
import type { Database } from '../../shared/models/database.ts';
import { endDraft, findDraftById } from '../../shared/models/lesson-draft.ts';
import { findImportedVersion } from '../../shared/models/lesson-version.ts';
import { findOrganization } from '../../shared/models/organization.ts';
import { withDraftPackage } from '../../shared/drafts/drafts.ts';
import { importPackage } from '../../shared/packages/import.ts';
import type { ImportedVersion } from '../../shared/packages/import.ts';
import { storeUploadedFile } from '../../shared/packages/library-upload.ts';
import { withPackageFaults } from '../../shared/packages/package-error.ts';
import type { Uploads } from '../../shared/imports/uploads.ts';
import type { Config } from '../../shared/platform/config.ts';
import { LecternError } from '../../shared/platform/errors.ts';
import { findMissing } from '../../shared/publishing/check-version.ts';
import { publishVersion } from '../../shared/publishing/publishing.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import type { Store } from '../../shared/storage/store.ts';

export interface RunDependencies {
  db: Database;
  store: Store;
  uploads: Uploads;
  config: Pick<Config, 'download' | 'export' | 'import'>;
  /** Queues the archive of a version that was just published. */
  prebuild: (version: LessonVersion) => Promise<void>;
}

/**
 * Imports the package of a complete upload, and publishes the version if the client asked for it: as
 * `lectern lesson import` does, with the same checks and messages. A repeated run completes an earlier one.
 *
 * @throws {LecternError} INVALID_CONTENT with every fault of the package; the signal's reason.
 */
export async function runImport(
  { db, store, uploads, config, prebuild }: RunDependencies,
  run: LessonImport & ImportLease,
  { signal, onProgress }: { signal: AbortSignal; onProgress: (progress: LessonImport['progress']) => void },
): Promise<ImportReport> {
  const { _id: importId, organizationId, fileName, options } = run;
  const organization = await findOrganization(db, organizationId);
  if (organization === null) throw new LecternError('NOT_FOUND', 'The organization was deleted');
  const { asNew, publish, force, mediaBaseUrl, questionsPerStep, module } = options;
  const importFrom = (path: string, basedOn?: string) =>
    withPackageFaults(`Cannot import ${fileName}`, () =>
      importPackage({ db, store, config }, organization, path, {
        ...{ asNew, importId, name: fileName, signal, onProgress },
        ...(mediaBaseUrl !== null && { mediaBaseUrl }),
        conversion: { ...(questionsPerStep !== null && { questionsPerStep }), module },
        ...(basedOn !== undefined && { basedOn }),
      }),
    );
  const { draft } = run;
  const imported =
    draft === null
      ? await uploads.withFile(run, signal, (path) => importFrom(path))
      : ((await endedDraft(db, importId, draft.id)) ??
        (await withDraftPackage(db, draft.id, signal, (folder, { versionId }) =>
          importFrom(folder, versionId),
        )));
  const { version, media, widgets, warnings } = imported;
  const { lessonId, _id: versionId, versionNumber, slug } = version;
  const conversion = imported.report && {
    format: imported.report.format,
    ...countResults(imported.report.entries),
  };
  const report = { lessonId, versionId, versionNumber, slug, media, widgets, conversion };
  const made = publish ? await publishVersion(db, store, versionId, { force }) : version;
  if (publish) await prebuild(made);
  const missing = publish || draft !== null ? await findMissing(db, made) : { media: [], widgets: [] };
  // The import of a package itself warns of missing media.
  warnings.push(...(draft === null ? [] : missing.media), ...missing.widgets);
  if (draft !== null) await endDraft(db, { draftId: draft.id, saves: draft.saves, versionId });
  return { ...report, published: made.status === 'published', warnings };
}

/**
 * Adds the file of a complete upload to the media library. A repeated run finds the file of the earlier one.
 *
 * @returns its id
 * @throws {LecternError} as {@link runImport} does
 */
export async function runMediaUpload(
  { db, store, uploads, config }: RunDependencies,
  run: LessonImport & ImportLease,
  signal: AbortSignal,
): Promise<string> {
  const { organizationId, fileName: name } = run;
  const organization = await findOrganization(db, organizationId);
  if (organization === null) throw new LecternError('NOT_FOUND', 'The organization was deleted');
  return uploads.withFile(run, signal, (path) =>
    withPackageFaults('Cannot add the file', () =>
      storeUploadedFile({ db, store, config }, organization, { path, name, signal }),
    ),
  );
}

/** Returns the version of a draft that an earlier run has ended, just before its process died; null if there is none. */
async function endedDraft(db: Database, importId: string, draftId: string): Promise<ImportedVersion | null> {
  if ((await findDraftById(db, draftId)) !== null) return null;
  const version = await findImportedVersion(db, importId);
  return version && { version, media: 0, widgets: version.widgets.length, warnings: [], report: null };
}
