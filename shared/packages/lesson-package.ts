import type { Readable } from 'node:stream';

import type { StoredReport } from '../lessons/loss-report.ts';
import type { MediaKind } from '../lessons/html-media.ts';
import type { LessonContent } from '../lessons/lesson-content.ts';
import type { PlayabilityError } from '../lessons/playability.ts';
import type { Attribution } from '../lessons/player-lesson.ts';
import type { PreparedText } from '../models/prepared-lesson.ts';
import type { FileLocation } from './file-location.ts';

/** A file of a package. `open` returns a stream as `openLocation` does. */
export interface PackageFile {
  /** The path from the top of the package: `media/<uuid>.jpg`. */
  path: string;
  /** Bytes. */
  size: number;
  location: FileLocation;
  open(): Readable;
}

/** A media entry with either a file or a source. */
export interface PackageMedium {
  /** A lower-case UUID. */
  id: string;
  mimeType: string;
  /** As the package writes it, in lower case, without the dot. Archives may use another one: `passiveFormat`. */
  extension: string;
  file?: PackageFile;
  /** The http or https URL of an external media file. */
  sourceUrl?: string;
  /** The digest in the manifest, in lower-case hex; not verified. */
  sha256?: string;
  /** In the order of the manifest. */
  attributions: Attribution[];
  /** How core widgets load it, other than as captions, with the first place of each use. */
  uses?: Partial<Record<Exclude<MediaKind, 'captions'>, string>>;
}

/** A custom widget with its files. */
export interface PackageWidget {
  type: string;
  js: PackageFile;
  css?: PackageFile;
  /** The digests in the manifest, in lower-case hex; not verified. */
  sha256?: string;
  cssSha256?: string;
}

/** A custom widget by URL. */
export interface PackageExternalWidget {
  type: string;
  /** The http or https URL of the ES module. */
  sourceUrl: string;
  cssSourceUrl: string | null;
}

/** The files that a package brings, or names by URL. */
export interface PackageFiles {
  media: PackageMedium[];
  widgets: PackageWidget[];
  externalWidgets: PackageExternalWidget[];
}

interface PackageHead extends PackageFiles {
  lessonId: string;
  versionId: string;
  versionNumber: number;
  slug: string;
  title: string;
  /** Problems that do not prevent an import. */
  warnings: string[];
  /** What became of each element of the source; null for a package. */
  report: StoredReport | null;
}

/** A package that was checked, except for the contents of its media and widget files. */
export interface LessonPackage extends PackageHead {
  /** With media references as `media:<uuid>`. */
  content: LessonContent;
}

/** A package that a child process has checked, with its lesson as an import stores it. */
export interface CheckedPackage extends PackageHead {
  lesson: CheckedLesson;
}

/** A lesson without its content, which could be too large to handle at once. */
export interface CheckedLesson {
  totalSections: number;
  totalSteps: number;
  /** The first reasons why it cannot be played. */
  playabilityErrors: PlayabilityError[];
  /** The id of the media file that stands for it in lists. */
  picture: string | null;
  /** The ids of media that it refers to and the package does not bring. */
  borrowedMedia: string[];
  /** The widget types that it uses, sorted. */
  widgetTypes: string[];
  /** The file of its content, compressed, in parts. */
  content: Buffer[];
  /** The texts that players load. */
  prepared: PreparedText[];
}
