import { createHash } from 'node:crypto';
import { sniffBytes } from '../media/content-types.ts';
import type { FileCodecs } from '../media/browser-formats.ts';
import { Mp4Codecs } from '../media/mp4-codecs.ts';
import { repairLimit } from '../media/repaired-files.ts';
import type { TaskOptions } from '../platform/tasks.ts';
import { realType, repairedFile } from './import-media.ts';
import type { PackageFile, PackageFiles, PackageMedium } from './lesson-package.ts';
import { checkDigest } from './checked-stream.ts';
import { shownPath } from './entry-name.ts';
import { unshownUses } from './media-uses.ts';
import { PackageError } from './package-error.ts';

/**
 * Reads the media and widget files of a package to their end, as an import does, and stores nothing.
 *
 * @returns what an import would change in files, and which files browsers do not show, for authors
 * @throws {PackageError} naming every file that is damaged, empty, or different from its description in manifest.json
 */
export async function checkPackageFiles(
  { media, widgets }: Pick<PackageFiles, 'media' | 'widgets'>,
  owner: Omit<TaskOptions, 'what'>,
): Promise<string[]> {
  const faults: string[] = [];
  const notes: string[] = [];
  const check = async (file: PackageFile | undefined, sha256?: string, medium?: PackageMedium) => {
    if (file === undefined) return;
    try {
      const { digest, ...codecs } = await readFile(file);
      checkDigest(file.path, digest, sha256);
      if (medium === undefined) return;
      const mimeType = await realType(medium, file.path, codecs.head);
      notes.push(...unshownUses(medium, { name: shownPath(file.path), mimeType, codecs }));
      if (repairLimit(mimeType) === null) return;
      const repaired = await repairedFile({ mimeType }, file, file.open(), owner);
      notes.push(...(repaired?.changes ?? []));
    } catch (error) {
      if (!(error instanceof PackageError)) throw error;
      faults.push(...error.faults);
    }
  };
  for (const medium of media) await check(medium.file, medium.sha256, medium);
  for (const { js, css, sha256, cssSha256 } of widgets) {
    await check(js, sha256);
    await check(css, cssSha256);
  }
  if (faults.length > 0) throw new PackageError(faults);
  return notes;
}

/** Returns the faults that {@link checkPackageFiles} finds. */
export async function faultsOfFiles(...given: Parameters<typeof checkPackageFiles>): Promise<string[]> {
  try {
    await checkPackageFiles(...given);
    return [];
  } catch (error) {
    if (!(error instanceof PackageError)) throw error;
    return error.faults;
  }
}

async function readFile(file: PackageFile): Promise<{ digest: { sha256: string } } & FileCodecs> {
  const hash = createHash('sha256');
  const codecs = new Mp4Codecs();
  const head: Buffer[] = [];
  let size = 0;
  for await (const chunk of file.open() as AsyncIterable<Buffer>) {
    if (size < sniffBytes) head.push(Buffer.from(chunk.subarray(0, sniffBytes - size)));
    hash.update(chunk);
    codecs.push(chunk);
    size += chunk.length;
  }
  return { digest: { sha256: hash.digest('hex') }, head: Buffer.concat(head), codes: codecs.found };
}
