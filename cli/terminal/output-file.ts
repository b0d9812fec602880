import { randomUUID } from 'node:crypto';
import { createWriteStream, fstatSync } from 'node:fs';
import type { Stats } from 'node:fs';
import { access, constants, open, readlink, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { codeOf, LecternError, messageOf } from '../../shared/platform/errors.ts';

/** Symbolic links that are followed, as on Linux; more form a loop. */
const maxLinks = 40;

/** The target of a command's output option. */
export interface OutputTarget {
  path: string;
  /** A pipe, device or socket is written into; a file is replaced as a whole. */
  isStream: boolean;
  /** The target is this process's stdout, which must then have no other output. */
  isStdout: boolean;
}

/**
 * Resolves an output path: a file, or an existing folder, in which the file is called `name`. Follows symbolic links,
 * so that their target is written and the links stay.
 *
 * @throws {LecternError} when the folder is missing or not writable
 */
export async function outputTarget(out: string, name: string): Promise<OutputTarget> {
  const given = resolve(out);
  const found = await stat(given).catch(() => null);
  if (found !== null && !found.isDirectory()) {
    const isStdout = isSame(found, fstatSync(1));
    if (isStdout || !found.isFile()) return { path: given, isStream: true, isStdout };
  }
  const path = found?.isDirectory() === true ? join(given, name) : given;
  try {
    const target = await followLinks(path);
    await access(dirname(target), constants.W_OK);
    return { path: target, isStream: false, isStdout: false };
  } catch (error) {
    throw cannotWrite(path, error);
  }
}

/** Resolves the symbolic links of a path that may not exist yet. */
async function followLinks(path: string): Promise<string> {
  let target = path;
  for (let links = 0; links <= maxLinks; links += 1) {
    const link = await readlink(target).catch((error: unknown) => {
      if (['EINVAL', 'ENOENT'].includes(String(codeOf(error)))) return null;
      throw error;
    });
    if (link === null) return target;
    target = resolve(dirname(target), link);
  }
  throw new Error('its symbolic links form a loop');
}

function isSame(one: Stats, other: Stats): boolean {
  return one.dev === other.dev && one.ino === other.ino;
}

/**
 * Writes a temporary file beside the target and renames it, so that the target is either complete or unchanged. Writes
 * directly into a stream.
 *
 * @param options.isPersonal whether only the owner of the file may read it.
 * @throws {LecternError} naming the file; the signal's reason when it is aborted
 */
export async function writeOutput(
  { path, isStream, isStdout }: OutputTarget,
  chunks: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
  { isPersonal = false } = {},
): Promise<void> {
  if (!isStream) return writeWhole(path, chunks, signal, isPersonal ? 0o600 : 0o666);
  try {
    // Opening the target of stdout again would overwrite it from the beginning.
    const stream = isStdout ? process.stdout : createWriteStream(path);
    await pipeline(chunks, stream, { signal, end: !isStdout });
  } catch (error) {
    signal.throwIfAborted();
    throw cannotWrite(path, error);
  }
}

async function writeWhole(
  path: string,
  chunks: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
  mode: number,
): Promise<void> {
  const temporary = `${path}.${randomUUID()}.part`;
  try {
    const handle = await open(temporary, 'wx', mode);
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
