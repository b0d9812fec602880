import { LimitExceeded } from '../platform/limited-process.ts';
import { runTask } from '../platform/tasks.ts';
import type { TaskOptions } from '../platform/tasks.ts';
import { CaptionsFault, isCaptions, maxCaptionsBytes, readCaptions } from './captions.ts';
import { isSvg, maxSvgBytes, sanitizedSvg, SvgFault } from './svg.ts';

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

interface FileToRepair {
  mimeType: string;
  bytes: Uint8Array;
}

type RepairedPart = RepairedFile | { fault: string };

/**
 * Returns a drawing without scripts, and captions that browsers show, which a child process reads: a hostile file takes
 * long, and a package may have thousands. Other files keep their bytes.
 *
 * @throws {RepairFault} also for a file that takes too much time or memory
 */
export async function repairFile(
  mimeType: string,
  bytes: Buffer,
  owner: Omit<TaskOptions, 'what'>,
): Promise<RepairedFile> {
  if (repairLimit(mimeType) === null) return { bytes, changes: [] };
  const file: FileToRepair = { mimeType, bytes };
  const run = { what: 'Reading the file', ...owner };
  const [part] = await runTask<RepairedPart>('repairFile', file, run).catch((error: unknown) => {
    if (!(error instanceof LimitExceeded)) throw error;
    throw new RepairFault(`${kindOf(mimeType)} that takes too much time or memory`, { cause: error });
  });
  if (part === undefined) throw new Error('The task that repairs a file has returned none');
  if ('fault' in part) throw new RepairFault(part.fault);
  return part;
}

/** The task of {@link repairFile}. */
export function* repairFileTask({ mimeType, bytes }: FileToRepair): Generator<RepairedPart> {
  const file = Buffer.from(bytes);
  try {
    yield isCaptions(mimeType) ? readCaptions(file) : { bytes: sanitizedSvg(file), changes: [] };
  } catch (error) {
    if (!(error instanceof SvgFault || error instanceof CaptionsFault)) throw error;
    yield { fault: `${kindOf(mimeType)} that ${error.message}` };
  }
}

function kindOf(mimeType: string): string {
  return isCaptions(mimeType) ? 'captions' : 'an SVG';
}
