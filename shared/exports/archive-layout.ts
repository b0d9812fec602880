/** Of a local header without its name (APPNOTE.TXT 4.3.7). */
export const localHeaderBytes = 30;

/** From here on a size or an offset stands in a ZIP64 field, of tag, length and number (APPNOTE.TXT 4.5.3). */
export const max32 = 0xffffffff;
export const zip64FieldBytes = 4;
export const zip64NumberBytes = 8;

/** What that adds to the local header of an entry, which has its size twice. */
const zip64Bytes = zip64FieldBytes + 2 * zip64NumberBytes;

/**
 * Where the bytes of each file begin in an archive of Lectern's own: entries are stored as they are, one after the
 * other, so it follows from their names and sizes.
 *
 * @param folder that holds all files; '' where they are at the archive's top level.
 * @param entries all files, in the archive's order, by their paths below the folder.
 * @returns byte offsets, by path.
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

/** Returns what the names of entries in a folder begin with; nothing for ''. */
export function folderPrefix(folder: string): string {
  return folder === '' ? '' : `${folder}/`;
}
