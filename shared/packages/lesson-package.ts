import type { Readable } from 'node:stream';

import type { LessonContent } from '../lessons/lesson-content.ts';
import type { Attribution } from '../models/medium.ts';

/** A file of a package. `open` returns a stream as `PackageSource.open` does. */
export interface PackageFile {
  /** The path from the top of the package: `media/<uuid>.jpg`. */
  path: string;
  /** Bytes. */
  size: number;
  open(): Promise<Readable>;
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

/** A package that was checked, except for the contents of its media and widget files. */
export interface LessonPackage {
  lessonId: string;
  versionId: string;
  versionNumber: number;
  slug: string;
  title: string;
  /** With media references as `media:<uuid>`. */
  content: LessonContent;
  media: PackageMedium[];
  widgets: PackageWidget[];
  externalWidgets: PackageExternalWidget[];
  /** Problems that do not prevent an import. */
  warnings: string[];
}
