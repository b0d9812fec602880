import type { Readable } from 'node:stream';

/** How much a package may hold; a package that holds more is refused before its contents are read. */
export interface PackageLimits {
  /** Bytes of one file, unpacked. */
  fileBytes: number;
  /** Bytes of all files, unpacked. */
  totalBytes: number;
  files: number;
}

export const defaultPackageLimits: PackageLimits = {
  fileBytes: 512 * 1024 ** 2,
  totalBytes: 8 * 1024 ** 3,
  files: 100_000,
};

export interface SourceFile {
  /** From the top of the package, with slashes: `media/cover.jpg`. */
  readonly path: string;
  /** Bytes, unpacked. */
  readonly size: number;
}

/** The files of a package, wherever they are: a folder or a ZIP archive. */
export interface PackageSource {
  /** Sorted by path. No path leads out of the package, and no two are the same to any file system. */
  readonly files: readonly SourceFile[];
  /** The file at this path, however its accents are encoded. */
  find(path: string): SourceFile | undefined;
  /**
   * Opens a file. Nothing is opened before the stream is read, and it gives exactly `size` bytes: anything else,
   * and whatever else is wrong with the file, is a PackageError on the stream.
   */
  open(path: string): Promise<Readable>;
  /** Streams that are open already can be read to their end. */
  close(): Promise<void>;
}
