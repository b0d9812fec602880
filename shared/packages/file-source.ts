import { realpath, stat } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { entryNameFault } from './entry-name.ts';
import { packageListing, sourceOf } from './listing.ts';
import { cannotRead } from './package-error.ts';
import type { PackageLimits, PackageSource } from './package-source.ts';

/**
 * Opens a single file as a source.
 *
 * @param name of the file; by default that of its path
 * @throws {PackageError}
 */
export async function openFileSource(
  path: string,
  limits: PackageLimits,
  name: string = basename(resolve(path)),
): Promise<PackageSource> {
  const location = await realpath(path).catch((error: unknown) => cannotRead(path, error));
  const { size } = await stat(location);
  // Files of people may have names that no archive may have.
  const file = { path: entryNameFault(name) === undefined ? name : 'file', size, location };
  return sourceOf(packageListing(name, [file], [], limits), (found) => ({ archive: null, file: found }));
}
