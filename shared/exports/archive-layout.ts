/** Size of a local header without its name (APPNOTE.TXT 4.3.7). */
export const localHeaderBytes = 30;

/** Sizes and offsets from here on are in a ZIP64 field of tag, length and number (APPNOTE.TXT 4.5.3). */
export const max32 = 0xffffffff;
export const zip64FieldBytes = 4;
export const zip64NumberBytes = 8;

/** The size of a local header's ZIP64 field, which has the file's size twice. */
const zip64Bytes = zip64FieldBytes + 2 * zip64NumberBytes;

/**
 * Returns where the bytes of each file begin in an archive of Lectern. Entries are stored uncompressed, one
 * after the other, so the offsets follow from their names and sizes.
 *
 * @param folder the folder of all files; '' for the archive's top level.
 * @param entries all files in archive order, with paths below the folder.
 * @returns byte offsets by path.
 */
export function entryStarts(
  folder: string,
  entries: readonly { path: string; size: number }[],
): Map<string, number> {
  const starts = new Map<string, number>();
  let offset = 0;
  for (const { path, size } of entries) {
    offset +=
      localHeaderBytes + Buffer.byteLength(folderPrefix(folder) + path) + (size >= max32 ? zip64Bytes : 0);
    starts.set(path, offset);
    offset += size;
  }
  return starts;
}

/** Returns the prefix of entry names in a folder; empty for ''. */
export function folderPrefix(folder: string): string {
  return folder === '' ? '' : `${folder}/`;
}
