import { randomUUID } from 'node:crypto';
import { access, constants, open, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { LecternError, messageOf } from '../shared/errors.ts';

/**
 * Where a file can be written that a person named: a file, or a folder that exists, in which it is called `name`.
 *
 * @throws {LecternError} when its folder is missing or cannot be written to.
 */
export async function targetPath(out: string, name: string): Promise<string> {
  const given = resolve(out);
  const isFolder = await stat(given).then(
    (found) => found.isDirectory(),
    () => false,
  );
  const path = isFolder ? join(given, name) : given;
  try {
    await access(dirname(path), constants.W_OK);
  } catch (error) {
    throw cannotWrite(path, error);
  }
  return path;
}

/**
 * Writes beside the target and renames: the file is there whole, or as it was before.
 *
 * @throws {LecternError} naming the file; the signal's reason when it is aborted.
 */
export async function writeWhole(
  path: string,
  chunks: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): Promise<void> {
  const temporary = `${path}.${randomUUID()}.part`;
  try {
    const handle = await open(temporary, 'wx');
    try {
      for await (const chunk of chunks) {
        signal.throwIfAborted();
        await handle.writeFile(chunk);
      }
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    signal.throwIfAborted();
    throw cannotWrite(path, error);
  }
}

function cannotWrite(path: string, error: unknown): LecternError {
  return new LecternError('INTERNAL_ERROR', `Cannot write ${path}: ${messageOf(error)}`, { cause: error });
}
