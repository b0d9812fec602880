import { randomUUID } from 'node:crypto';
import { basename } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { ConversionOptions } from '../converters/converter.ts';
import type { StoredReport } from '../lessons/loss-report.ts';
import type { Config } from '../platform/config.ts';
import type { Database } from '../models/database.ts';
import { insertReport } from '../models/conversion-report.ts';
import { copyExternalWidgets } from '../models/external-widget.ts';
import { insertContent, markContentFinished } from '../models/lesson-content.ts';
import { findLesson, saveLesson } from '../models/lesson.ts';
import {
  deleteVersion,
  findImportedVersion,
  findVersion,
  insertVersion,
  lastVersionNumber,
  markVersionsUnpublished,
} from '../models/lesson-version.ts';
import type { LessonVersion } from '../models/lesson-version.ts';
import { addToLibrary, adoptMedia } from '../models/medium.ts';
import { savePrepared } from '../models/prepared-lesson.ts';
import { keepReleases } from '../models/widget-release.ts';
import type { Organization } from '../models/organization.ts';
import { StorageQuota } from '../models/stored-bytes.ts';
import { isDuplicate } from '../platform/mongo.ts';
import type { Store } from '../storage/store.ts';
import { faultsOfFiles } from './check-files.ts';
import { storeMedia } from './import-media.ts';
import { releaseWidgets, storeExternalWidgets, storeWidgets } from './import-widgets.ts';
import type { CheckedPackage } from './lesson-package.ts';
import { PackageError, shortened } from './package-error.ts';
import { maxVersionNumber } from './manifest.ts';
import { defaultPackageLimits } from './package-source.ts';
import type { PackageLimits } from './package-source.ts';
import { openPackage } from './open-package.ts';
import { watchFiles } from './watch-files.ts';
import type { FileProgress } from './watch-files.ts';
import { removeImport } from './unfinished-imports.ts';

/**
 * The maximum number of tries with the next version number, because concurrent imports of a lesson compete for numbers.
 */
const maxNumberTries = 100;

/** The maximum number of problems that are stored with a version. */
const maxProblems = 20;

export interface ImportOptions {
  /** Makes a copy: new ids for lesson, version and media. */
  asNew: boolean;
  /** The name of the archive, for messages; by default that of the file. */
  name?: string;
  /** The id of an import that may be repeated: it makes at most one version. */
  importId?: string;
  /** Makes media external, at this URL, under the package's own file names. */
  mediaBaseUrl?: string;
  /** Options for sources in other formats. */
  conversion?: Partial<ConversionOptions>;
  /** The version whose media and widgets by URL the new version has, too. */
  basedOn?: string;
  signal: AbortSignal;
  /** Called after each file of the package. */
  onProgress?: (progress: FileProgress) => void;
}

export interface ImportedVersion {
  version: LessonVersion;
  media: number;
  widgets: number;
  warnings: string[];
  /** What became of each element of a source in another format; null for a package. */
  report: StoredReport | null;
}

interface ImportDependencies {
  db: Database;
  store: Store;
  config: Pick<Config, 'download' | 'export' | 'import'>;
}

/**
 * Imports a lesson package, or a source in another format that Lectern converts, as a draft: a new lesson, or the next version of the organization's
 * lesson. The version appears in the last step; a failed import leaves nothing behind.
 *
 * @throws {PackageError} with each fault of the package and its position
 * @throws {LecternError} PAYLOAD_TOO_LARGE if the organization may not store that much
 */
export async function importPackage(
  deps: ImportDependencies,
  organization: Organization,
  path: string,
  options: ImportOptions,
): Promise<ImportedVersion> {
  const { name, mediaBaseUrl, conversion, importId, basedOn, asNew, signal } = options;
  const organizationId = organization._id;
  const readOptions = {
    ...{ limits: packageLimits(deps.config), owner: organizationId },
    ...(name !== undefined && { name }),
    ...(mediaBaseUrl !== undefined && { mediaBaseUrl }),
    ...(conversion !== undefined && { conversion }),
    borrowsMedia: basedOn !== undefined,
  };
  const read = await openPackage({ path, options: readOptions, asNew }, { organizationId, signal });
  const earlier = importId === undefined ? null : await findImportedVersion(deps.db, importId);
  if (earlier !== null) return finishEarlier(deps.db, read, earlier);
  try {
    return await importVersion(deps, organization, watchFiles(read, options), options);
  } catch (error) {
    if (!(error instanceof PackageError)) throw error;
    // It has stopped at the first damaged file.
    const all = await faultsOfFiles(read, { organizationId, signal });
    throw new PackageError([...new Set([...error.faults, ...all])], { cause: error });
  }
}

/** Returns the limits that the settings give a package. */
export function packageLimits({
  download,
  export: exports,
}: Pick<Config, 'download' | 'export'>): PackageLimits {
  return { ...defaultPackageLimits, fileBytes: download.maxBytes, totalBytes: exports.maxBytes };
}

async function importVersion(
  deps: ImportDependencies,
  organization: Organization,
  pkg: CheckedPackage,
  { signal, importId, basedOn }: ImportOptions,
): Promise<ImportedVersion> {
  const { db } = deps;
  const { lessonId, slug, title } = pkg;
  const lesson = await findLesson(db, lessonId);
  if (lesson !== null && lesson.organizationId !== organization._id) throw foreignLesson(lessonId);
  const quota = await StorageQuota.open(db, organization, deps.config.import.maxStoredBytes);
  const contentBytes = contentSize(pkg);
  quota.add(contentBytes);
  const { content, prepared, playabilityErrors, picture, totalSections, totalSteps } = pkg.lesson;
  // The content first: the sweep finds unfinished imports by their content.
  const versionId = await insertContentAs(db, pkg.versionId, content);
  let hasVersion = false;
  try {
    for (const text of prepared) await savePrepared(db, versionId, text);
    if (pkg.report !== null) await insertReport(db, versionId, pkg.report);
    const changes = await storeMedia(deps, organization, pkg, { versionId, quota, signal });
    const stored = await storeWidgets(deps, pkg, quota);
    await storeExternalWidgets(db, organization, pkg, versionId);
    if (basedOn !== undefined) {
      const draft = { organizationId: organization._id, basedOn, versionId };
      await adoptMedia(db, draft, pkg.lesson.borrowedMedia);
      await copyExternalWidgets(db, basedOn, versionId);
    }
    // The import restores a deleted lesson with this version; its other versions stay unpublished.
    if (lesson !== null && lesson.deletedAt !== null) await markVersionsUnpublished(db, { lessonId });
    signal.throwIfAborted();

    const releases = await releaseWidgets(db, organization, stored);
    const version = await insertNextVersion(db, {
      _id: versionId,
      lessonId,
      organizationId: organization._id,
      versionNumber: lesson === null ? pkg.versionNumber : 0,
      status: 'draft',
      slug,
      title,
      ...{ totalSections, totalSteps },
      problems: playabilityErrors.slice(0, maxProblems).map((problem) => problem.message),
      widgets: releases.map(({ type, widgetId }) => ({ type, widgetId })),
      picture,
      contentBytes,
      publishedAt: null,
      ...(importId !== undefined && { importId }),
    });
    hasVersion = true;
    await addToLibrary(db, versionId, fileNames(pkg));
    await markContentFinished(db, versionId);
    if (!(await saveLesson(db, { _id: lessonId, organizationId: organization._id, slug, title }))) {
      throw foreignLesson(lessonId);
    }
    await keepReleases(db, releases);
    return {
      version,
      media: pkg.media.length,
      widgets: releases.length + pkg.externalWidgets.length,
      warnings: [...pkg.warnings, ...shortened(changes)],
      report: pkg.report,
    };
  } catch (error) {
    // A sweep removes the files and releases.
    if (hasVersion) await deleteVersion(db, versionId);
    await removeImport(db, versionId);
    // Prefers the signal's reason to the less specific error of an aborted stream.
    signal.throwIfAborted();
    throw error;
  }
}

/** Returns the names of the package's files by media id; those of archives are ids. */
function fileNames({ media }: CheckedPackage): Map<string, string> {
  return new Map(media.flatMap(({ id, file }) => (file === undefined ? [] : [[id, basename(file.path)]])));
}

function contentSize({ lesson: { content, prepared } }: CheckedPackage): number {
  const parts = [...content, ...prepared.map(({ file }) => file)];
  return parts.reduce((sum, { length }) => sum + length, 0);
}

/** Completes the last steps of an import that ended after it had stored its version. */
async function finishEarlier(
  db: Database,
  pkg: CheckedPackage,
  version: LessonVersion,
): Promise<ImportedVersion> {
  const { _id: versionId, lessonId, organizationId, slug, title } = version;
  await addToLibrary(db, versionId, fileNames(pkg));
  await markContentFinished(db, versionId);
  if (!(await saveLesson(db, { _id: lessonId, organizationId, slug, title }))) throw foreignLesson(lessonId);
  const brought = version.widgets.filter(({ type }) => pkg.widgets.some((widget) => widget.type === type));
  await keepReleases(
    db,
    brought.map((pin) => ({ organizationId, ...pin })),
  );
  return {
    version,
    media: pkg.media.length,
    widgets: pkg.widgets.length + pkg.externalWidgets.length,
    warnings: pkg.warnings,
    report: pkg.report,
  };
}

function foreignLesson(lessonId: string): PackageError {
  return new PackageError([
    `lesson.json: lesson.id: ${lessonId} is a lesson of another organization. Import it with --as-new to make a copy.`,
  ]);
}

/**
 * Stores content under the package's version id, or under a new one if a version or an unfinished import has that id.
 * Returns the id.
 */
async function insertContentAs(db: Database, versionId: string, content: Buffer[]): Promise<string> {
  if ((await findVersion(db, versionId)) === null) {
    try {
      await insertContent(db, versionId, content);
      return versionId;
    } catch (error) {
      if (!isDuplicate(error)) throw error;
    }
  }
  const newId = randomUUID();
  await insertContent(db, newId, content);
  return newId;
}

/** Inserts a version under the lesson's next number; concurrent imports get different numbers. */
async function insertNextVersion(
  db: Database,
  version: Omit<LessonVersion, 'createdAt'>,
): Promise<LessonVersion> {
  for (let tries = 1; ; tries += 1) {
    const last = await lastVersionNumber(db, version.lessonId);
    const versionNumber = Math.max(last + 1, version.versionNumber);
    if (versionNumber > maxVersionNumber) {
      throw new PackageError([
        `The lesson has version ${last}, and ${maxVersionNumber} is the last possible. Import the package with --as-new.`,
      ]);
    }
    try {
      return await insertVersion(db, { ...version, versionNumber });
    } catch (error) {
      if (!isDuplicate(error) || tries === maxNumberTries) throw error;
      // Another worker repeats the import and was faster.
      if (version.importId !== undefined && (await findImportedVersion(db, version.importId))) throw error;
      // Jitter, because concurrent imports would collide again.
      await delay(Math.random() * Math.min(tries, 10) * 20);
    }
  }
}
