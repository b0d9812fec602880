export const MiB = 1024 ** 2;

/** Of the 10,000 parts that S3 takes: an archive is larger than its files by its directory. */
const usedParts = 9_000;

/** Parts of one size, and how many there are of each size after that. */
const equalParts = 5_000;
const growingParts = 600;

/** Node.js 20 has no larger buffers than 4 GiB. */
const largestPartBytes = 2 * 1024 ** 3;

/** Returns the size of equal parts with which an object of so many bytes fits into one upload, in whole MiB. */
export function partBytesOf(bytes: number): number {
  return Math.ceil(bytes / usedParts / MiB) * MiB;
}

/**
 * Returns the size of a part of an object that may outgrow equal parts of the first size: doubled again and again, so
 * that the largest object that S3 takes, of 5 TiB, fits into 10,000.
 *
 * @param number from 1.
 */
export function growingPartBytes(number: number, firstBytes: number): number {
  const doublings = Math.max(0, Math.ceil((number - equalParts) / growingParts));
  return Math.min(firstBytes * 2 ** doublings, Math.max(firstBytes, largestPartBytes));
}
