import type { TaskOptions } from '../platform/tasks.ts';
import { CaptionsFault, isCaptions, maxCaptionsBytes, readCaptions } from './captions.ts';
import { harmlessSvg, isSvg, maxSvgBytes, SvgFault } from './svg.ts';

/** A file as Lectern stores it. */
export interface RepairedFile {
  bytes: Uint8Array;
  /** The changes that let browsers show the file, for authors. */
  changes: string[];
}

/** Says why browsers cannot show a file of a type that {@link repairFile} reads. */
export class RepairFault extends Error {
  override readonly name = 'RepairFault';
}

/** Returns the maximum size of a file that Lectern reads as a whole before it stores it; null for other types. */
export function repairLimit(mimeType: string): number | null {
  if (isSvg(mimeType)) return maxSvgBytes;
  return isCaptions(mimeType) ? maxCaptionsBytes : null;
}

/**
 * Returns a drawing without scripts, and captions that browsers show. Other files keep their bytes.
 *
 * @throws {RepairFault}
 */
export async function repairFile(
  mimeType: string,
  bytes: Buffer,
  owner: Omit<TaskOptions, 'what'>,
): Promise<RepairedFile> {
  try {
    if (isCaptions(mimeType)) return readCaptions(bytes);
    return { bytes: isSvg(mimeType) ? await harmlessSvg(bytes, owner) : bytes, changes: [] };
  } catch (error) {
    if (error instanceof SvgFault) throw new RepairFault(`an SVG that ${error.message}`);
    if (error instanceof CaptionsFault) throw new RepairFault(`captions that ${error.message}`);
    throw error;
  }
}
