import { open, type FileHandle } from 'node:fs/promises';
import { basename, resolve } from 'node:path';

import { fromRandomAccessReaderPromise } from 'yauzl';

import { messageOf } from '../platform/errors.ts';
import { packageListing, sourceOf } from './listing.ts';
import { cannotRead, PackageError } from './package-error.ts';
import type { PackageLimits, PackageSource } from './package-source.ts';
import { readZipEntries, type ZipEntry } from './zip-entries.ts';
import type { FileIdentity } from './zip-entry-bytes.ts';
import { ZipReader } from './zip-reader.ts';

/** A higher compression ratio shows a ZIP bomb. Lessons and media never reach it. */
const maxRatio = 200;
const minBombBytes = 64 * 1024 ** 2;

/**
 * Opens a ZIP archive, or ZIP64, as a package. Entries can be read in any order and concurrently. Reading an entry
 * checks its size and CRC-32.
 *
 * @param name of the archive, for messages; by default that of the file.
 * @throws {PackageError}
 */
export async function openZipSource(
  path: string,
  limits: PackageLimits,
  name?: string,
): Promise<PackageSource> {
  const location = resolve(path);
  const label = name ?? basename(location);
  const handle = await open(location).catch((error: unknown) => cannotRead(path, error));
  let identity: FileIdentity;
  let listing: Map<string, ZipEntry>;
  try {
    const { dev, ino, size, mtimeMs } = await handle.stat();
    identity = { dev, ino, size, mtimeMs };
    listing = await listZip(handle, size, label, limits);
  } finally {
    await handle.close();
  }
  return sourceOf(listing, (file) => ({ archive: location, identity, file }));
}

async function listZip(
  handle: FileHandle,
  size: number,
  label: string,
  limits: PackageLimits,
): Promise<Map<string, ZipEntry>> {
  try {
    const options = { autoClose: false, decodeStrings: false, validateEntrySizes: false };
    const zip = await fromRandomAccessReaderPromise(new ZipReader(handle, size), size, options);
    // Folders are entries as well.
    const { files, folders } = await readZipEntries(zip, label, 2 * limits.files);
    const listing = packageListing(label, withoutCopies(files), folders, limits);
    rejectBomb(label, files, size);
    return listing;
  } catch (error) {
    if (error instanceof PackageError) throw error;
    throw damaged(label, error);
  }
}

/** Leaves out copies of an entry: some programs add a file each time that a lesson uses it. */
function withoutCopies(files: ZipEntry[]): ZipEntry[] {
  const seen = new Set<string>();
  return files.filter(({ path, size, crc32 }) => {
    const key = `${path}\0${size}\0${crc32}`;
    const isCopy = seen.has(key);
    seen.add(key);
    return !isCopy;
  });
}

function damaged(label: string, error: unknown): PackageError {
  const message = `${label}: is a truncated or damaged ZIP archive (${messageOf(error)})`;
  return new PackageError([message], { cause: error });
}

/** Returns whether a file begins as ZIP archives do. */
export async function beginsLikeZip(path: string): Promise<boolean> {
  const handle = await open(path).catch((error: unknown) => cannotRead(path, error));
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(4), 0, 4, 0);
    return bytesRead === 4 && ['PK\x03\x04', 'PK\x05\x06'].includes(buffer.toString('latin1'));
  } finally {
    await handle.close();
  }
}

function rejectBomb(label: string, files: ZipEntry[], archiveSize: number): void {
  const total = files.reduce((sum, { size }) => sum + size, 0);
  if (total <= minBombBytes || total <= maxRatio * archiveSize) return;
  throw new PackageError([
    `${label}: would expand from ${archiveSize} to ${total} bytes, more than ${maxRatio} times its size`,
  ]);
}
