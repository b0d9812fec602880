import type { Stats } from 'node:fs';
import { lstat, readdir, realpath } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';

import { entryNameFault, isIgnoredEntry, shownPath } from './entry-name.ts';
import { packageListing, sourceOf } from './listing.ts';
import { cannotRead, PackageError } from './package-error.ts';
import type { PackageLimits, PackageSource } from './package-source.ts';
import type { PlainFile } from './plain-file.ts';

/**
 * Opens a folder as a package. Accepts only plain files and folders; never follows links inside it.
 *
 * @throws {PackageError}
 */
export async function openFolderSource(path: string, limits: PackageLimits): Promise<PackageSource> {
  const label = basename(resolve(path)) || path;
  const root = await realpath(path).catch((error: unknown) => cannotRead(path, error));
  const { files, folders } = await walk(root, label, limits);
  return sourceOf(packageListing(label, files, folders, limits), (file) => ({ archive: null, file }));
}

async function walk(
  root: string,
  label: string,
  limits: PackageLimits,
): Promise<{ files: PlainFile[]; folders: string[] }> {
  const files: PlainFile[] = [];
  const folders: string[] = [];
  const pending = [''];
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    const inMessages = join(label, folder);
    const names = await readdir(join(root, folder)).catch((error: unknown) => cannotRead(inMessages, error));
    for (const name of names.sort()) {
      const path = folder === '' ? name : `${folder}/${name}`;
      if (isIgnoredEntry(path)) continue;
      // Before the path is used, because invalid UTF-8 would become another path.
      const fault = entryNameFault(path);
      if (fault !== undefined) throw new PackageError([`${label}: ${shownPath(path)}: ${fault}`]);
      const location = join(root, path);
      const stats = await lstat(location).catch((error: unknown) => cannotRead(join(label, path), error));
      const kind = kindOf(stats);
      if (kind === 'folder') {
        folders.push(path);
        pending.push(path);
      } else if (kind === 'file') {
        files.push({ path, size: stats.size, location });
      } else {
        throw new PackageError([`${label}: ${shownPath(path)}: is ${kind}; only plain files are allowed`]);
      }
      if (files.length + folders.length > 2 * limits.files) {
        throw new PackageError([`${label}: has more than ${limits.files} files`]);
      }
    }
  }
  return { files, folders };
}

function kindOf(stats: Stats): string {
  if (stats.isDirectory()) return 'folder';
  if (stats.isFile()) return 'file';
  if (stats.isSymbolicLink()) return 'a symbolic link';
  if (stats.isFIFO()) return 'a named pipe';
  if (stats.isSocket()) return 'a socket';
  return 'a device';
}
