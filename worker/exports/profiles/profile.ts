import type { LessonTexts } from '../../../shared/exports/lesson-texts.ts';
import type { Database } from '../../../shared/models/database.ts';
import type { LessonVersion } from '../../../shared/models/lesson-version.ts';
import type { ExportManifest } from '../../../shared/packages/manifest.ts';
import type { Store } from '../../../shared/storage/store.ts';
import type { Outcomes } from '../file-outcomes.ts';
import type { GeneratedFile } from '../generated-files.ts';
import type { ExportPlan } from '../plan.ts';
import type { FileResolution } from '../resolve-files.ts';

/** The parts of an archive whose media and widgets are written. */
export interface ArchiveParts {
  store: Store;
  version: LessonVersion;
  plan: ExportPlan;
  /** lesson.json */
  lesson: GeneratedFile;
  texts: LessonTexts;
  files: Pick<FileResolution, 'outcomeOf' | 'reserve'>;
}

/**
 * The files in the archives of one export profile, in this order: media and widgets, `folders` without files,
 * `extraFiles`, and `manifests`, which may list everything before them. The rest of the profile is in
 * shared/exports/profiles.ts.
 */
export interface ArchiveProfile {
  /** Finds the media and widgets that archives hold. */
  plan: (db: Database, version: LessonVersion) => Promise<ExportPlan>;
  /** Whether the archive has a page, which contains the lesson. */
  withPage: boolean;
  /** The limit of a learner's state in a platform; null for other archives. */
  maxStateCharacters: number | null;
  /** Folders that archives have even if they are empty. */
  folders: readonly `${string}/`[];
  /** The part of the extra files' size that is known before any media file, without lesson.json. */
  knownBytes: number;
  /** The number of files that `extraFiles` and `manifests` return together. */
  fileCount: number;
  /** Returns the media and widgets that `extraFiles` reads again. */
  rereadPaths: (plan: ExportPlan) => ReadonlySet<string>;
  /** Returns all other files of the content, including lesson.json. */
  extraFiles: (parts: ArchiveParts) => Promise<GeneratedFile[]>;
  /**
   * Returns the files that describe the archive; they come last and do not count as content.
   *
   * @param manifest the lesson, media and widgets for manifest.json.
   * @param outcomes the outcomes of all files so far, by path.
   */
  manifests: (manifest: ExportManifest, outcomes: Outcomes) => Promise<GeneratedFile[]>;
}

/** Reports a job that only workers of another release of Lectern can build. */
export class JobOfOtherRelease extends Error {
  override readonly name = 'JobOfOtherRelease';
}
