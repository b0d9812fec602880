import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Config } from '../platform/config.ts';
import { playabilityErrors } from '../lessons/playability.ts';
import type { LessonContent } from '../lessons/lesson-content.ts';
import { rewriteMediaReferences } from '../lessons/media-references.ts';
import { totalsOf } from '../lessons/totals.ts';
import type { Database } from '../models/database.ts';
import { insertContent } from '../models/lesson-content.ts';
import { findLesson, saveLesson } from '../models/lesson.ts';
import {
  deleteVersion,
  findVersion,
  insertVersion,
  lastVersionNumber,
  markVersionsUnpublished,
} from '../models/lesson-version.ts';
import type { LessonVersion } from '../models/lesson-version.ts';
import { keepReleases } from '../models/widget-release.ts';
import type { Organization } from '../models/organization.ts';
import { isDuplicate } from '../platform/mongo.ts';
import type { Store } from '../storage/store.ts';
import { storeMedia } from './import-media.ts';
import { releaseWidgets, storeExternalWidgets, storeWidgets } from './import-widgets.ts';
import type { LessonPackage } from './lesson-package.ts';
import { PackageError } from './package-error.ts';
import { maxVersionNumber } from './manifest.ts';
import { defaultPackageLimits } from './package-source.ts';
import type { PackageLimits } from './package-source.ts';
import { readPackage } from './read-package.ts';
import { watchFiles } from './watch-files.ts';
import type { FileProgress } from './watch-files.ts';
import { removeImport } from './unfinished-imports.ts';

/** Imports of one lesson that may come at once, each of which takes a number from the others. */
const maxNumberTries = 100;

/** Problems kept with a version; the first ones tell what to do. */
const keptProblems = 20;

export interface ImportOptions {
  /** Fresh ids for lesson, version and media: a copy. */
  asNew: boolean;
  /** Media are external, at this address and the package's own file names. */
  mediaBaseUrl?: string;
  signal: AbortSignal;
  /** Told after each file of the package. */
  onProgress?: (progress: FileProgress) => void;
}

export interface ImportedVersion {
  version: LessonVersion;
  media: number;
  widgets: number;
  warnings: string[];
}

interface ImportDependencies {
  db: Database;
  store: Store;
  config: Pick<Config, 'download' | 'export'>;
}

/**
 * Imports a lesson package, a folder or a ZIP, as a draft: a new lesson, or the next version of the organization's
 * own. The version appears as the last step, whole; when anything fails before, nothing of it stays.
 *
 * @throws {PackageError} with what is wrong in the package, file and place.
 */
export async function importPackage(
  deps: ImportDependencies,
  organization: Organization,
  path: string,
  options: ImportOptions,
): Promise<ImportedVersion> {
  const limits = packageLimits(deps.config);
  const { mediaBaseUrl } = options;
  const read = await readPackage(path, { limits, ...(mediaBaseUrl !== undefined && { mediaBaseUrl }) });
  const pkg = watchFiles(read, options);
  try {
    return await importVersion(deps, organization, options.asNew ? renumber(pkg) : pkg, options);
  } finally {
    await pkg.close();
  }
}

/** Returns the limits that the settings give a package. */
export function packageLimits({
  download,
  export: exports,
}: Pick<Config, 'download' | 'export'>): PackageLimits {
  return { ...defaultPackageLimits, fileBytes: download.maxBytes, totalBytes: exports.maxBytes };
}

/** The package with fresh ids; sections and steps keep theirs, which are the lesson's own. */
function renumber(pkg: LessonPackage): LessonPackage {
  // Other ids are those of media that the organization has already.
  const ids = new Map(pkg.media.map(({ id }) => [id, randomUUID()]));
  const freshId = (id: string) => ids.get(id) ?? id;
  return {
    ...pkg,
    lessonId: randomUUID(),
    versionId: randomUUID(),
    versionNumber: 1,
    content: rewriteMediaReferences(pkg.content, (id) => `media:${freshId(id)}`),
    media: pkg.media.map((medium) => ({ ...medium, id: freshId(medium.id) })),
  };
}

async function importVersion(
  deps: ImportDependencies,
  organization: Organization,
  pkg: LessonPackage,
  { signal }: ImportOptions,
): Promise<ImportedVersion> {
  const { db } = deps;
  const { lessonId, slug, title } = pkg;
  const lesson = await findLesson(db, lessonId);
  if (lesson !== null && lesson.organizationId !== organization._id) throw takenElsewhere(lessonId);
  const content = { ...pkg.content, lesson: { ...pkg.content.lesson, id: lessonId } };
  // The content first: a sweep finds an import that did not finish by it.
  const versionId = await insertContentAs(db, pkg.versionId, content);
  const undo = new ImportUndo(db, versionId);
  try {
    await storeMedia(deps, organization, pkg, { versionId, signal });
    const stored = await storeWidgets(deps, pkg);
    await storeExternalWidgets(db, organization, pkg, versionId);
    // A deleted lesson comes back with this version; its others stay unpublished.
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
      ...totalsOf(content),
      problems: playabilityErrors(content)
        .slice(0, keptProblems)
        .map((problem) => problem.message),
      widgets: releases.map(({ type, widgetId }) => ({ type, widgetId })),
      publishedAt: null,
    });
    undo.addVersion();
    if (!(await saveLesson(db, { _id: lessonId, organizationId: organization._id, slug, title }))) {
      throw takenElsewhere(lessonId);
    }
    await keepReleases(db, releases);
    return {
      version,
      media: pkg.media.length,
      widgets: releases.length + pkg.externalWidgets.length,
      warnings: pkg.warnings,
    };
  } catch (error) {
    await undo.run();
    // What an aborted stream throws says less than the signal's reason.
    signal.throwIfAborted();
    throw error;
  }
}

function takenElsewhere(lessonId: string): PackageError {
  return new PackageError([
    `lesson.json: lesson.id: ${lessonId} is a lesson of another organization. Import it with --as-new for a copy of its own.`,
  ]);
}

/**
 * Stores content under a version id of its own: the package's, or a new one when that is taken by a version, by an
 * import under way, or by one that did not finish.
 */
async function insertContentAs(db: Database, versionId: string, content: LessonContent): Promise<string> {
  if ((await findVersion(db, versionId)) === null) {
    try {
      await insertContent(db, versionId, content);
      return versionId;
    } catch (error) {
      if (!isDuplicate(error)) throw error;
    }
  }
  const fresh = randomUUID();
  await insertContent(db, fresh, content);
  return fresh;
}

/** Inserts a version under the lesson's next number; two imports at once get two numbers. */
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
      // Apart: those that come at once would meet again.
      await delay(Math.random() * Math.min(tries, 10) * 20);
    }
  }
}

/** What an import has written so far, for the case that it fails; its files and releases are left to a sweep. */
class ImportUndo {
  readonly #db: Database;
  readonly #versionId: string;
  #hasVersion = false;

  /** The content and the media are found by the version's id. */
  constructor(db: Database, versionId: string) {
    this.#db = db;
    this.#versionId = versionId;
  }

  addVersion(): void {
    this.#hasVersion = true;
  }

  async run(): Promise<void> {
    if (this.#hasVersion) await deleteVersion(this.#db, this.#versionId);
    await removeImport(this.#db, this.#versionId);
  }
}
