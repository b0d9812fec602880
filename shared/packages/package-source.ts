import type { Readable } from 'node:stream';

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
  files: 100_000,
};

export interface SourceFile {
  /** The path from the top of the package, with slashes: `media/cover.jpg`. */
  readonly path: string;
  /** Unpacked bytes. */
  readonly size: number;
}

/** The files of a package in a folder or a ZIP archive. */
export interface PackageSource {
  /** Sorted by path. Each path stays inside the package, and is unique on every file system. */
  readonly files: readonly SourceFile[];
  /** Finds the file at this path, whatever the Unicode form of its accents. */
  find(path: string): SourceFile | undefined;
  /**
   * Opens a file. The stream opens it at the first read and has exactly `size` bytes; every problem of the file is a
   * PackageError on the stream.
   */
  open(path: string): Promise<Readable>;
}
