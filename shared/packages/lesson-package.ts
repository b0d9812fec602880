import type { Readable } from 'node:stream';

import type { LessonContent } from '../lessons/lesson-content.ts';
import type { Attribution } from '../models/medium.ts';

/** A file of a package; see `PackageSource.open` for what the stream promises. */
export interface PackageFile {
  /** From the top of the package: `media/<uuid>.jpg`. */
  path: string;
  /** Bytes. */
  size: number;
  open(): Promise<Readable>;
}

/** A medium comes as a file or from a source, never both. */
export interface PackageMedium {
  /** A lower-case UUID. */
  id: string;
  mimeType: string;
  /** Lower case, without the dot. */
  extension: string;
  file?: PackageFile;
  /** Of an external medium: an http or https URL. */
  sourceUrl?: string;
  /** As the manifest states it, lower-case hex: unchecked. */
  sha256?: string;
  /** In the order of the manifest. */
  attributions: Attribution[];
}

/** A widget that is not Lectern's own. */
export interface PackageWidget {
  type: string;
  js: PackageFile;
  css?: PackageFile;
  /** Of the two files, as the manifest states it, lower-case hex: unchecked. */
  sha256?: string;
  cssSha256?: string;
}

/** A widget that is not Lectern's own and comes from a URL, not as a file. */
export interface PackageExternalWidget {
  type: string;
  /** Of the ES module: an http or https URL. */
  sourceUrl: string;
  cssSourceUrl: string | null;
}

/** A package that was read and checked: only the bytes of its media and widgets are not. */
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
  /** What does not keep the package from being imported, for people. */
  warnings: string[];
  /** Call it when all files are read; it never fails. */
  close(): Promise<void>;
}
