import { randomUUID } from 'node:crypto';
import pLimit from 'p-limit';
import type { Config } from '../config.ts';
import { playabilityErrors } from '../lessons/playability.ts';
import { rewriteMediaReferences } from '../lessons/media-references.ts';
import { totalsOf } from '../lessons/totals.ts';
import type { Database } from '../models/database.ts';
import { insertContent } from '../models/lesson-content.ts';
import { findLesson, saveLesson } from '../models/lesson.ts';
import {
  findVersion,
  insertVersion,
  lastVersionNumber,
  markVersionsUnpublished,
} from '../models/lesson-version.ts';
import type { LessonVersion, WidgetPin } from '../models/lesson-version.ts';
import { insertMedia } from '../models/medium.ts';
import type { Medium } from '../models/medium.ts';
import type { Organization } from '../models/organization.ts';
import { deleteWidgetRelease } from '../models/widget-release.ts';
import { isDuplicate } from '../mongo.ts';
import type { Digest, Store } from '../storage/store.ts';
import { releaseWidget } from '../widgets/releases.ts';
import type { LessonPackage, PackageMedium } from './lesson-package.ts';
import { PackageError } from './package-error.ts';
import { defaultPackageLimits } from './package-source.ts';
import { readPackage } from './read-package.ts';
import { removeImport } from './unfinished-imports.ts';

/** Files written to the store at once: each waits for the disk. */
const concurrency = 4;

/** Problems kept with a version; the first ones tell what to do. */
const keptProblems = 20;

export interface ImportOptions {
  /** Fresh ids for lesson, version and media: a copy. */
  asNew: boolean;
  /** Media are external, at this address and the package's own file names. */
  mediaBaseUrl?: string;
  signal: AbortSignal;
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
  const { download, export: exports } = deps.config;
  const limits = { ...defaultPackageLimits, fileBytes: download.maxBytes, totalBytes: exports.maxBytes };
  const { mediaBaseUrl } = options;
  const pkg = await readPackage(path, { limits, ...(mediaBaseUrl !== undefined && { mediaBaseUrl }) });
  try {
    return await importVersion(deps, organization, options.asNew ? renumber(pkg) : pkg, options);
  } finally {
    await pkg.close();
  }
}

/** The package with fresh ids; sections and steps keep theirs, which are the lesson's own. */
function renumber(pkg: LessonPackage): LessonPackage {
  const ids = new Map<string, string>();
  const freshId = (id: string) => {
    const fresh = ids.get(id) ?? randomUUID();
    ids.set(id, fresh);
    return fresh;
  };
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
  const { db, store } = deps;
  const { lessonId } = pkg;
  const lesson = await findLesson(db, lessonId);
  if (lesson !== null && lesson.organizationId !== organization._id) {
    throw new PackageError([
      `lesson.json: lesson.id: ${lessonId} is a lesson of another organization. Import it with --as-new for a copy of its own.`,
    ]);
  }
  const versionId = (await findVersion(db, pkg.versionId)) === null ? pkg.versionId : randomUUID();
  const undo = new ImportUndo(db, store, versionId);
  try {
    const content = { ...pkg.content, lesson: { ...pkg.content.lesson, id: lessonId } };
    // The content first: a sweep finds an import that did not finish by it.
    await insertContent(db, versionId, content);
    await insertMedia(db, await storeMedia(store, organization, pkg, { versionId, undo, signal }));
    const widgets = await storeWidgets(deps, organization, pkg, undo);

    // A deleted lesson comes back with this version alone.
    if (lesson !== null && lesson.deletedAt !== null) await markVersionsUnpublished(db, { lessonId });
    signal.throwIfAborted();
    const version = await insertNextVersion(db, {
      _id: versionId,
      lessonId,
      organizationId: organization._id,
      versionNumber: lesson === null ? pkg.versionNumber : 0,
      status: 'draft',
      slug: pkg.slug,
      title: pkg.title,
      ...totalsOf(content),
      problems: playabilityErrors(content)
        .slice(0, keptProblems)
        .map((problem) => problem.message),
      widgets,
      publishedAt: null,
    });
    await saveLesson(db, {
      _id: lessonId,
      organizationId: organization._id,
      slug: pkg.slug,
      title: pkg.title,
    });
    return { version, media: pkg.media.length, widgets: widgets.length, warnings: pkg.warnings };
  } catch (error) {
    await undo.run();
    throw error;
  }
}

/** Inserts a version under the lesson's next number; two imports at once get two numbers. */
async function insertNextVersion(
  db: Database,
  version: Omit<LessonVersion, 'createdAt'>,
): Promise<LessonVersion> {
  for (let tries = 1; ; tries += 1) {
    const last = await lastVersionNumber(db, version.lessonId);
    const versionNumber = Math.max(last + 1, version.versionNumber);
    try {
      return await insertVersion(db, { ...version, versionNumber });
    } catch (error) {
      if (!isDuplicate(error) || tries === 10) throw error;
    }
  }
}

async function storeMedia(
  store: Store,
  organization: Organization,
  pkg: LessonPackage,
  { versionId, undo, signal }: { versionId: string; undo: ImportUndo; signal: AbortSignal },
): Promise<Omit<Medium, 'createdAt'>[]> {
  const limit = pLimit(concurrency);
  const failed = new AbortController();
  const storing = pkg.media.map((medium) =>
    limit(async () => {
      if (failed.signal.aborted) return null;
      signal.throwIfAborted();
      const { id: mediaId, mimeType, extension, sourceUrl, attribution } = medium;
      const asset = await storeMedium(store, medium, undo);
      return {
        organizationId: organization._id,
        versionId,
        mediaId,
        mimeType,
        extension,
        asset,
        sourceUrl: asset === null ? (sourceUrl ?? null) : null,
        attribution: attribution ?? null,
      };
    }).catch((error: unknown) => {
      failed.abort();
      throw error;
    }),
  );
  // All of them end before the first failure is thrown: what is written after the undo would stay.
  const results = await Promise.allSettled(storing);
  return results.flatMap((result) => {
    if (result.status === 'rejected') throw result.reason;
    return result.value ?? [];
  });
}

async function storeMedium(store: Store, medium: PackageMedium, undo: ImportUndo): Promise<Digest | null> {
  const { file, sha256: expected } = medium;
  if (file === undefined) return null;
  const { created, ...digest } = await store.assets.put(await file.open());
  if (created) undo.addFile(digest.sha256);
  if (expected !== undefined && digest.sha256 !== expected.toLowerCase()) {
    throw new PackageError([
      `${file.path}: its SHA-256 is ${digest.sha256}, and manifest.json says ${expected}`,
    ]);
  }
  return digest;
}

async function storeWidgets(
  { db, store }: ImportDependencies,
  organization: Organization,
  pkg: LessonPackage,
  undo: ImportUndo,
): Promise<WidgetPin[]> {
  const pins: WidgetPin[] = [];
  for (const { type, js, css } of pkg.widgets) {
    const files = { js: await js.open(), css: css === undefined ? null : await css.open() };
    const release = await releaseWidget(db, store, { organizationId: organization._id, type, ...files });
    if (release.created) undo.addRelease(organization._id, release.widgetId);
    for (const file of [release.js, release.css])
      if (file !== null && release.created) undo.addFile(file.sha256);
    pins.push({ type, widgetId: release.widgetId });
  }
  return pins;
}

/** What an import has written so far, for the case that it fails. */
class ImportUndo {
  readonly #db: Database;
  readonly #store: Store;
  readonly #versionId: string;
  readonly #files: string[] = [];
  readonly #releases: { organizationId: string; widgetId: string }[] = [];

  constructor(db: Database, store: Store, versionId: string) {
    this.#db = db;
    this.#store = store;
    this.#versionId = versionId;
  }

  addFile(sha256: string): void {
    this.#files.push(sha256);
  }

  addRelease(organizationId: string, widgetId: string): void {
    this.#releases.push({ organizationId, widgetId });
  }

  async run(): Promise<void> {
    for (const release of this.#releases) await deleteWidgetRelease(this.#db, release);
    await removeImport(this.#db, this.#store, this.#versionId, this.#files);
  }
}
