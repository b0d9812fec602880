import { randomUUID } from 'node:crypto';
import { createWriteStream, fstatSync } from 'node:fs';
import type { Stats } from 'node:fs';
import { access, constants, open, readlink, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { codeOf, LecternError, messageOf } from '../../shared/platform/errors.ts';

/** Links that lead to each other; more are a circle, as for Linux. */
const maxLinks = 40;

/** Where a command writes what a person asked for. */
export interface OutputTarget {
  path: string;
  /** Whether it is a pipe, a device or a socket: it is written into, where a file is replaced as a whole. */
  isStream: boolean;
  /** Whether that is this process's stdout, on which nothing else may be written then. */
  isStdout: boolean;
}

/**
 * Finds where a file can be written: a file, or a folder that exists, in which it is called `name`. Links are
 * followed, so that the file they lead to is written and the link stays.
 *
 * @throws {LecternError} when its folder is missing or cannot be written to.
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

/** Where a path leads, also when there is nothing yet. */
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
 * Writes a file beside the target and renames it: the file is there whole, or as it was before. A stream is written
 * into.
 *
 * @throws {LecternError} naming the file; the signal's reason when it is aborted.
 */
export async function writeOutput(
  { path, isStream, isStdout }: OutputTarget,
  chunks: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): Promise<void> {
  if (!isStream) return writeWhole(path, chunks, signal);
  try {
    // Not opened again: what stdout has been redirected to would be written from its beginning.
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
