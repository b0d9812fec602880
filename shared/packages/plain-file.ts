import { constants } from 'node:fs';
import { open, realpath } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { shownPath } from './entry-name.ts';
import type { SourceFile } from './entry-name.ts';
import { PackageError } from './package-error.ts';

/** A file of a package in a folder. */
export interface PlainFile extends SourceFile {
  readonly location: string;
}

/**
 * Opens a file, and checks again that it is a plain file: a link or a pipe may have replaced it or its folders since it
 * was listed.
 */
export async function openPlainFile(file: PlainFile): Promise<Readable> {
  const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;
  const handle = await open(file.location, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    const stats = await handle.stat();
    if (!stats.isFile() || (await realpath(file.location)) !== file.location) {
      throw new PackageError([`${shownPath(file.path)}: was replaced while the package was read`]);
    }
    return handle.createReadStream();
  } catch (error) {
    await handle.close();
    throw error;
  }
}
