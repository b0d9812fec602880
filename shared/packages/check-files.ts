import { createHash } from 'node:crypto';
import { sniffBytes } from '../media/downloads/content-types.ts';
import { isSvg } from '../media/svg.ts';
import type { TaskOptions } from '../platform/tasks.ts';
import { drawingOf, realType } from './import-media.ts';
import type { PackageFile, PackageFiles } from './lesson-package.ts';
import { checkDigest } from './checked-stream.ts';
import { PackageError } from './package-error.ts';

/**
 * Reads the media and widget files of a package to their end, as an import does, and stores nothing.
 *
 * @throws {PackageError} naming every file that is damaged, empty, or different from its description in manifest.json
 */
export async function checkPackageFiles(
  { media, widgets }: PackageFiles,
  owner: Omit<TaskOptions, 'what'>,
): Promise<void> {
  const faults: string[] = [];
  const check = async (file: PackageFile | undefined, sha256?: string, declared?: { mimeType: string }) => {
    if (file === undefined) return;
    try {
      const { digest, head } = await readFile(file);
      checkDigest(file.path, digest, sha256);
      if (declared === undefined) return;
      const mimeType = await realType(declared, file.path, head);
      if (isSvg(mimeType)) await drawingOf({}, file, file.open(), owner);
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
}

async function readFile(file: PackageFile): Promise<{ digest: { sha256: string }; head: Buffer }> {
  const hash = createHash('sha256');
  const head: Buffer[] = [];
  let size = 0;
  for await (const chunk of file.open() as AsyncIterable<Buffer>) {
    if (size < sniffBytes) head.push(Buffer.from(chunk.subarray(0, sniffBytes - size)));
    hash.update(chunk);
    size += chunk.length;
  }
  return { digest: { sha256: hash.digest('hex') }, head: Buffer.concat(head) };
}
