import { stat } from 'node:fs/promises';

import { cannotRead } from './cannot-read.ts';
import { shownPath } from './entry-name.ts';
import { openFolderSource } from './folder-source.ts';
import { PackageError } from './package-error.ts';
import { defaultPackageLimits, type PackageLimits, type PackageSource } from './package-source.ts';
import { openZipSource } from './zip-source.ts';

/**
 * Opens a package, a folder or a ZIP archive, and checks everything that can be known without reading its files.
 *
 * @param path a link is followed here, for a person named it
 * @throws PackageError
 */
export async function openPackageSource(
  path: string,
  limits: PackageLimits = defaultPackageLimits,
): Promise<PackageSource> {
  const stats = await stat(path).catch((error: unknown) => cannotRead(path, error));
  if (stats.isDirectory()) return openFolderSource(path, limits);
  if (stats.isFile()) return openZipSource(path, limits);
  throw new PackageError([`${shownPath(path)}: is neither a folder nor a ZIP archive`]);
}
