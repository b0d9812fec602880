import { isUtf8 } from 'node:buffer';
import { getFileNameLowLevel } from 'yauzl';
import type { Entry, ZipFile } from 'yauzl';

import { quote } from '../lessons/json-values.ts';
import { shownPath } from './entry-name.ts';
import { FaultList, PackageError } from './package-error.ts';
import type { SourceFile } from './package-source.ts';

/** A file in a ZIP archive, as the archive's central directory tells of it. */
export interface ZipEntry extends SourceFile {
  readonly rawName: Buffer;
  readonly compressedSize: number;
  readonly method: 0 | 8;
  readonly crc32: number;
  readonly headerOffset: number;
  /** Where the next header or the central directory begins: the entry has to end before. */
  readonly endLimit: number;
}

const localHeaderSize = 30;
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
 * Reads the central directory and refuses what a well-meant archive does not have: encryption, links, unknown
 * compression, names that tools read differently, entries that share bytes.
 *
 * @param zip opened with `lazyEntries`, without `decodeStrings` and `validateEntrySizes`: both are done here, with
 *   messages that name the entry
 */
export async function readZipEntries(
  zip: ZipFile,
  label: string,
  maxEntries: number,
): Promise<{ files: ZipEntry[]; folders: string[] }> {
  if (zip.entryCount > maxEntries) {
    throw new PackageError([`${label}: has ${zip.entryCount} entries; at most ${maxEntries} are allowed`]);
  }
  // A number, whatever yauzl's types say: before the first entry is read, it is where the directory begins.
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
  const limited = withEndLimits(entries, directoryOffset, label);
  return {
    files: limited.filter(({ path }) => !path.endsWith('/')),
    folders: limited.filter(({ path }) => path.endsWith('/')).map(({ path }) => path.slice(0, -1)),
  };
}

/**
 * Names are UTF-8, declared by bit 11 or not (macOS does not declare it), which ASCII is a part of. Other bytes without
 * that bit are CP437 (APPNOTE.TXT, appendix D), unless a Unicode Path field says it better. Undefined for bytes that
 * are declared as UTF-8 and are not.
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
  if (path.endsWith('/') && entry.uncompressedSize > 0) return 'is a folder with contents of its own';
  // Another name in the Info-ZIP Unicode Path field: some tools would unpack to that one.
  const unicodePath = entry.extraFields.find(({ id }) => id === 0x7075)?.data.subarray(5);
  // For a name in another encoding the field is the name.
  const isAnotherName =
    unicodePath !== undefined && isUtf8(entry.fileNameRaw) && !unicodePath.equals(entry.fileNameRaw);
  return isAnotherName ? 'has a second, different name' : undefined;
}

/** A copy without the entry's extra fields and comments, which can be large. */
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
 * Entries that share bytes are how a small archive unpacks to terabytes. That an entry ends before the next one
 * begins is checked here without its local header, which is not read yet, and again when it is opened.
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
