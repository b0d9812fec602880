import type { PackageFile } from './lesson-package.ts';
import { entryNameFault, shownPath } from './entry-name.ts';
import type { FaultList } from './package-error.ts';
import type { PackageSource } from './package-source.ts';

/**
 * The path from the top of the package for a localPath of manifest.json, such as `./media/<uuid>.jpg`. Undefined,
 * with a fault, when it is unsafe or not in its folder.
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

/** The file at a path that manifest.json names. Undefined, with a fault, when it is missing or has another size. */
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

/** The file at a path, if the package has it. */
export function packageFile(source: PackageSource, path: string): PackageFile | undefined {
  const file = source.find(path);
  return file && { path, size: file.size, open: () => source.open(path) };
}
