import type { Readable } from 'node:stream';
import type { SourceFile } from './entry-name.ts';
import type { FileLocation } from './file-location.ts';

/** Limits of a package. A larger package is rejected before its contents are read. */
export interface PackageLimits {
  /** Unpacked bytes of one file. */
  fileBytes: number;
  /** Unpacked bytes of all files. */
  totalBytes: number;
  files: number;
}

export const defaultPackageLimits: PackageLimits = {
  fileBytes: 512 * 1024 ** 2,
  totalBytes: 8 * 1024 ** 3,
  files: 25_000,
};

/** The files of a package in a folder or a ZIP archive. */
export interface PackageSource {
  /** Sorted by path. Each path stays inside the package, and is unique on every file system. */
  readonly files: readonly SourceFile[];
  /** Finds the file at this path, whatever the Unicode form of its accents. */
  find(path: string): SourceFile | undefined;
  /** Finds a file as {@link find} does, for a process that opens it. */
  locate(path: string): FileLocation | undefined;
  /** Opens a file, as `openLocation` does. */
  open(path: string): Promise<Readable>;
}
