import { mkdir, readdir } from 'node:fs/promises';
import { codeOf, LecternError } from '../../shared/platform/errors.ts';

/** @throws {LecternError} CONFLICT for a file, or a folder that is not empty */
export async function makeEmptyFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true });
  } catch (error) {
    if (codeOf(error) !== 'EEXIST' && codeOf(error) !== 'ENOTDIR') throw error;
    throw new LecternError('CONFLICT', `${folder} is not a folder. Name a new folder.`);
  }
  if ((await readdir(folder)).length > 0) {
    throw new LecternError('CONFLICT', `${folder} is not empty. Name a new folder.`);
  }
}
