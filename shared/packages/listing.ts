import { entryNameFault, isIgnoredEntry, samePath, shownPath } from './entry-name.ts';
import type { SourceFile } from './entry-name.ts';
import { FaultList, PackageError } from './package-error.ts';
import { openLocation } from './file-location.ts';
import type { FileLocation } from './file-location.ts';
import type { PackageLimits, PackageSource } from './package-source.ts';

/**
 * Makes a source of the package in a folder or an archive.
 *
 * @param listing the package's files, from {@link packageListing}
 */
export function sourceOf<T extends SourceFile>(
  listing: Map<string, T>,
  locationOf: (file: T) => FileLocation,
): PackageSource {
  const locate = (path: string) => {
    const file = listing.get(samePath(path));
    return file && locationOf(file);
  };
  return {
    locate,
    files: [...listing.values()].map(({ path, size }) => ({ path, size })),
    find: (path) => listing.get(samePath(path)),
    open: (path) => {
      const location = locate(path);
      if (location === undefined)
        return Promise.reject(new PackageError([`${shownPath(path)}: is not in the package`]));
      return Promise.resolve(openLocation(location));
    },
  };
}

/**
 * Checks the contents of a folder or an archive before any file is read: safe paths, no duplicates, sizes within the
 * limits. Then finds the top of the package: that of the folder or archive, or the only folder there.
 *
 * @param label the name of the folder or archive, for messages
 * @param folders paths of folders, which are checked but not listed
 * @returns the package's files by their path from the top of the package, sorted
 * @throws {PackageError} with every fault
 */
export function packageListing<T extends SourceFile>(
  label: string,
  found: T[],
  folders: string[],
  limits: PackageLimits,
): Map<string, T> {
  const faults = new FaultList();
  const files = found.filter(({ path }) => !isIgnoredEntry(path));
  const named = [...files.map(({ path }) => path), ...folders.filter((path) => !isIgnoredEntry(path))];
  for (const name of named) {
    const fault = entryNameFault(name);
    if (fault !== undefined) faults.add(`${label}: ${shownPath(name)}`, fault);
  }
  faults.throwIfAny();
  checkTwins(label, files, folders, faults);
  checkSizes(label, files, limits, faults);
  faults.throwIfAny();
  return belowTop(label, files);
}

/** Rejects paths that are equal on some file system: Windows and macOS ignore case, macOS also the form of accents. */
function checkTwins(label: string, files: SourceFile[], folders: string[], faults: FaultList): void {
  const seen = new Map<string, string>();
  const folderKeys = new Set(folders.map(sameness));
  for (const { path } of files) {
    const key = sameness(path);
    const twin = seen.get(key);
    if (twin !== undefined) faults.add(`${label}: ${shownPath(path)}`, `duplicate of ${shownPath(twin)}`);
    seen.set(key, twin ?? path);
    for (let end = key.lastIndexOf('/'); end > 0; end = key.lastIndexOf('/', end - 1)) {
      folderKeys.add(key.slice(0, end));
    }
  }
  for (const [key, path] of seen) {
    if (folderKeys.has(key)) faults.add(`${label}: ${shownPath(path)}`, 'is a file and a folder at once');
  }
}

function sameness(path: string): string {
  return path.normalize('NFC').toLowerCase().normalize('NFC');
}

function checkSizes(label: string, files: SourceFile[], limits: PackageLimits, faults: FaultList): void {
  if (files.length > limits.files) {
    faults.add(label, `has ${files.length} files; at most ${limits.files} are allowed`);
  }
  let total = 0;
  for (const { path, size } of files) {
    total += size;
    if (size > limits.fileBytes) {
      faults.add(`${label}: ${shownPath(path)}`, `is ${size} bytes; at most ${limits.fileBytes} are allowed`);
    }
  }
  if (total > limits.totalBytes) {
    faults.add(label, `holds ${total} bytes; at most ${limits.totalBytes} are allowed`);
  }
}

function belowTop<T extends SourceFile>(label: string, files: T[]): Map<string, T> {
  const prefix = topFolder(label, files);
  const inside = files.filter((file) => file.path.startsWith(prefix));
  const entries = inside.map((file): [string, T] => {
    const path = samePath(file.path.slice(prefix.length));
    return [path, { ...file, path }];
  });
  return new Map(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Files at the top of a format. They show where the top is. */
const topFiles = ['lesson.json', 'manifest.json', 'h5p.json', 'imsmanifest.xml', 'cmi5.xml', 'tincan.xml'];

/**
 * Returns the prefix of the package's paths: empty, or the name of the only folder at the top and a slash. Files beside
 * that folder, such as a README, do not belong to the package.
 */
function topFolder(label: string, files: SourceFile[]): string {
  if (files.length === 0) throw new PackageError([`${label}: is empty`]);
  if (files.some(({ path }) => topFiles.includes(path))) return '';
  const prefixes = new Set(files.map(({ path }) => path.slice(0, path.indexOf('/') + 1)));
  const isAllInFolders = !prefixes.delete('');
  const [prefix = ''] = prefixes;
  if (prefixes.size !== 1) return '';
  const isTop = isAllInFolders || files.some(({ path }) => topFiles.includes(path.slice(prefix.length)));
  return isTop ? prefix : '';
}
