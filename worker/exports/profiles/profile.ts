import type { LessonContent } from '../../../shared/lessons/lesson-content.ts';
import type { Database } from '../../../shared/models/database.ts';
import type { LessonVersion } from '../../../shared/models/lesson-version.ts';
import type { ExportManifest } from '../../../shared/packages/manifest.ts';
import type { Store } from '../../../shared/storage/store.ts';
import type { Outcomes } from '../outcome.ts';
import type { OwnFile } from '../own-files.ts';
import type { ExportPlan } from '../plan.ts';
import type { FileSearch } from '../resolve-files.ts';

/** What an archive is made of by the time its media and widgets are written. */
export interface ArchiveParts {
  store: Store;
  version: LessonVersion;
  plan: ExportPlan;
  /** lesson.json */
  lesson: OwnFile;
  search: Pick<FileSearch, 'find' | 'reserve'>;
}

/**
 * Makes the archives of one export profile: which files they hold, in this order. Media and widgets come first, then
 * `folders` without a file, `extraFiles`, and `manifests`, which may list everything before them. The rest of the
 * profile is in shared/exports/profiles.ts.
 */
export interface ArchiveProfile {
  /** Finds the media and widgets that archives hold. */
  plan: (db: Database, version: LessonVersion, content: LessonContent) => Promise<ExportPlan>;
  /** Folders that archives have even where no file is in them. */
  folders: readonly `${string}/`[];
  /** Size of the extra files that are known before any medium is, without lesson.json. */
  knownBytes: number;
  /** How many files `extraFiles` and `manifests` return together. */
  fileCount: number;
  /** Paths of media and widgets that `extraFiles` reads again: they stay in the store until the end. */
  readsAgain: (plan: ExportPlan) => ReadonlySet<string>;
  /** Returns all further files that make up the content, lesson.json included. */
  extraFiles: (parts: ArchiveParts) => Promise<OwnFile[]>;
  /**
   * Returns the files that describe the archive; they are the last ones and do not count as content.
   *
   * @param manifest what manifest.json says of lesson, media and widgets.
   * @param outcomes all files so far, by path.
   */
  manifests: (manifest: ExportManifest, outcomes: Outcomes) => Promise<OwnFile[]>;
}

/** A job that only workers of another release of Lectern can build. */
export class JobOfOtherRelease extends Error {
  override readonly name = 'JobOfOtherRelease';
}
