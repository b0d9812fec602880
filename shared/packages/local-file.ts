import type { PackageFile } from './lesson-package.ts';
import { entryNameFault, shownPath } from './entry-name.ts';
import { openLocation } from './file-location.ts';
import type { FaultList } from './package-error.ts';
import type { PackageSource } from './package-source.ts';

/**
 * Returns the path from the top of the package for a localPath of manifest.json, such as `./media/<uuid>.jpg`. Adds a
 * fault and returns undefined if it is unsafe or not in its folder.
 */
export function localPathIn(
  folder: 'media' | 'widgets',
  localPath: string,
  place: string,
  faults: FaultList,
): string | undefined {
  const path = localPath.startsWith('./') ? localPath.slice(2) : localPath;
  const fault = entryNameFault(path);
  if (fault !== undefined) {
    faults.add(place, `${shownPath(localPath)}: ${fault}`);
  } else if (!path.startsWith(`${folder}/`)) {
    faults.add(place, `${shownPath(localPath)} is not in ${folder}/`);
  } else {
    return path;
  }
  return undefined;
}

/** Returns the file at a path that manifest.json lists. Adds a fault if it is missing or has another size. */
export function listedFile(
  source: PackageSource,
  path: string,
  entry: { place: string; field: string; size?: number | undefined },
  faults: FaultList,
): PackageFile | undefined {
  const file = packageFile(source, path);
  if (file === undefined) {
    faults.add(`${entry.place}.${entry.field}`, `${shownPath(`./${path}`)} is not in the package`);
  } else if (entry.size !== undefined && entry.size !== file.size) {
    faults.add(`${entry.place}.size`, `${shownPath(`./${path}`)} has ${file.size} bytes, not ${entry.size}`);
  }
  return file;
}

/** Returns the file at a path; undefined if the package does not have it. */
export function packageFile(source: PackageSource, path: string): PackageFile | undefined {
  const location = source.locate(path);
  return location && openableFile({ path, size: location.file.size, location });
}

/** Adds the function that opens a file, which no other process can send. */
export function openableFile(file: Omit<PackageFile, 'open'>): PackageFile {
  return { ...file, open: () => openLocation(file.location) };
}
