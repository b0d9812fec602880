import parseRange from 'range-parser';

/** The bytes from `start` up to but not including `end`. */
export interface ByteRange {
  start: number;
  end: number;
}

/**
 * The one range that a Range header asks for. Null where the whole file is the answer: for no header, one that makes
 * no sense, another unit, or several ranges (RFC 9110, 14.2, lets a server ignore any of them).
 *
 * @param size of the file, in bytes.
 */
export function byteRange(header: string, size: number): ByteRange | 'unsatisfiable' | null {
  // range-parser calls a suffix that is longer than the file unsatisfiable; it means all of it (RFC 9110, 14.1.2).
  const suffix = /^bytes=-(\d+)$/i.exec(header.trim())?.[1];
  if (suffix !== undefined && size > 0 && Number(suffix) > size) return { start: 0, end: size };
  const ranges = header === '' ? -2 : parseRange(size, header);
  if (ranges === -2) return null;
  if (ranges === -1) return /^bytes=/i.test(header) ? 'unsatisfiable' : null;
  const [range] = ranges;
  if (range === undefined || ranges.length > 1 || ranges.type.toLowerCase() !== 'bytes') return null;
  return { start: range.start, end: range.end + 1 };
}
