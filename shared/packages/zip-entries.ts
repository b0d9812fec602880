import { isUtf8 } from 'node:buffer';
import { getFileNameLowLevel } from 'yauzl';
import type { Entry, ZipFile } from 'yauzl';

import { quote } from '../lessons/json-values.ts';
import { shownPath } from './entry-name.ts';
import type { SourceFile } from './entry-name.ts';
import { FaultList, PackageError } from './package-error.ts';

/** A file in a ZIP archive, as its central directory describes it. */
export interface ZipEntry extends SourceFile {
  readonly rawName: Buffer;
  readonly compressedSize: number;
  readonly method: 0 | 8;
  readonly crc32: number;
  readonly headerOffset: number;
  /** The offset of the next header or of the central directory: the entry must end before it. */
  readonly endLimit: number;
}

const localHeaderSize = 30;
const topFolder = './';
const utf8Flag = 0x800;
const encryptionFlags = 0x1 | 0x40 | 0x2000;

const fileTypeMask = 0xf000;
const fileTypes: Record<number, string> = {
  0xa000: 'a symbolic link',
  0x1000: 'a named pipe',
  0xc000: 'a socket',
};
const plainFileTypes = [0, 0x4000, 0x8000];

/**
 * Reads the central directory. Rejects features that only hostile or unusual archives have: encryption, links, unknown
 * compression, names that tools read differently, entries that share bytes.
 *
 * @param zip opened with `lazyEntries`, without `decodeStrings` and `validateEntrySizes`, because the messages of these
 *   checks do not name the entry
 */
export async function readZipEntries(
  zip: ZipFile,
  label: string,
  maxEntries: number,
): Promise<{ files: ZipEntry[]; folders: string[] }> {
  if (zip.entryCount > maxEntries) {
    throw new PackageError([`${label}: has ${zip.entryCount} entries; at most ${maxEntries} are allowed`]);
  }
  // Before the first entry is read, this is the offset of the directory: a number, despite yauzl's types.
  const directoryOffset = Number(zip.readEntryCursor);
  const faults = new FaultList();
  const entries: ZipEntry[] = [];
  for await (const entry of zip.eachEntry()) {
    const path = nameOf(entry);
    const place = `${label}: ${path === undefined ? quote(entry.fileNameRaw.toString('latin1')) : shownPath(path)}`;
    const fault = entryFault(entry, path);
    if (fault !== undefined) faults.add(place, fault);
    else entries.push(toZipEntry(entry, path ?? ''));
  }
  faults.throwIfAny();
  return divided(withPaths(withEndLimits(entries, directoryOffset, label)), label);
}

/**
 * Writes paths as other tools do. Old versions of PowerShell separate them by backslashes: where no path has a slash, a
 * backslash can mean nothing else. Windows' tar writes `./` before each path, and as a separate entry.
 */
function withPaths(entries: ZipEntry[]): ZipEntry[] {
  const hasSlashes = entries.some(({ path }) => path.includes('/'));
  return entries.map((entry) => {
    const path = hasSlashes ? entry.path : entry.path.replaceAll('\\', '/');
    const isTop = path === '.' || path === './';
    return { ...entry, path: isTop ? topFolder : path.replaceAll(/(?<=^|\/)\.(?:\/|$)/g, '') };
  });
}

/** Divides entries into files and paths of folders. */
function divided(entries: ZipEntry[], label: string): { files: ZipEntry[]; folders: string[] } {
  const faults = new FaultList();
  const files: ZipEntry[] = [];
  const folders: string[] = [];
  for (const entry of entries) {
    if (!entry.path.endsWith('/')) files.push(entry);
    else if (entry.size > 0) faults.add(`${label}: ${shownPath(entry.path)}`, 'is a folder with contents');
    else if (entry.path !== topFolder) folders.push(entry.path.slice(0, -1));
  }
  faults.throwIfAny();
  return { files, folders };
}

/**
 * Decodes an entry's name. Names are UTF-8, whether bit 11 declares it or not (macOS does not). Other bytes without that
 * bit are CP437 (APPNOTE.TXT, appendix D), unless a Unicode Path field has the name. Undefined for invalid UTF-8.
 */
function nameOf(entry: Entry): string | undefined {
  const { generalPurposeBitFlag: flags, fileNameRaw: bytes, extraFields } = entry;
  if (isUtf8(bytes)) return bytes.toString('utf8');
  if (flags & utf8Flag) return undefined;
  const name = getFileNameLowLevel(flags, bytes, extraFields, true);
  return name.includes('\uFFFD') ? undefined : name;
}

function entryFault(entry: Entry, path: string | undefined): string | undefined {
  if (path === undefined) return 'the path is not valid UTF-8';
  const type = (entry.externalFileAttributes >>> 16) & fileTypeMask;
  if (!plainFileTypes.includes(type)) {
    return `is ${fileTypes[type] ?? 'a special file'}; only plain files are allowed`;
  }
  if (entry.generalPurposeBitFlag & encryptionFlags) return 'is encrypted';
  const { compressionMethod: method } = entry;
  if (method !== 0 && method !== 8)
    return `uses compression method ${method}; only store (0) and deflate (8) are known`;
  if (method === 0 && entry.compressedSize !== entry.uncompressedSize) {
    return `is stored, but its two sizes differ (${entry.compressedSize} and ${entry.uncompressedSize})`;
  }
  // Some tools would unpack to the name in the Info-ZIP Unicode Path field.
  const unicodePath = entry.extraFields.find(({ id }) => id === 0x7075)?.data.subarray(5);
  // If the name has another encoding, the field is the name.
  const isAnotherName =
    unicodePath !== undefined && isUtf8(entry.fileNameRaw) && !unicodePath.equals(entry.fileNameRaw);
  return isAnotherName ? 'has a second, different name' : undefined;
}

/** Copies an entry without its extra fields and comments, which can be large. */
function toZipEntry(entry: Entry, path: string): ZipEntry {
  return {
    path,
    size: entry.uncompressedSize,
    rawName: Buffer.from(entry.fileNameRaw),
    compressedSize: entry.compressedSize,
    method: entry.compressionMethod === 8 ? 8 : 0,
    crc32: entry.crc32,
    headerOffset: entry.relativeOffsetOfLocalHeader,
    endLimit: 0,
  };
}

/**
 * Checks that entries do not overlap: with shared bytes, a small archive could unpack to terabytes. This check does not
 * know the local headers; opening an entry repeats it.
 */
function withEndLimits(entries: ZipEntry[], directoryOffset: number, label: string): ZipEntry[] {
  const faults = new FaultList();
  const byOffset = entries.toSorted((a, b) => a.headerOffset - b.headerOffset);
  const limited = byOffset.map((entry, index) => {
    const endLimit = byOffset[index + 1]?.headerOffset ?? directoryOffset;
    const end = entry.headerOffset + localHeaderSize + entry.rawName.length + entry.compressedSize;
    if (end > endLimit) faults.add(`${label}: ${shownPath(entry.path)}`, 'overlaps with what follows it');
    return { ...entry, endLimit };
  });
  faults.throwIfAny();
  return limited;
}
