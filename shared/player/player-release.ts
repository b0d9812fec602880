import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { PlayerRelease } from '../models/player-release.ts';
import { codeOf, LecternError } from '../platform/errors.ts';
import { packageRoot } from '../platform/paths.ts';

/** Where player/build.ts puts it. */
const builtPlayer = join(packageRoot, 'player', 'dist', 'player');

let reading: Promise<PlayerRelease> | undefined;

/**
 * The player that ships with this Lectern, read once a process.
 *
 * @throws {LecternError} INTERNAL_ERROR when it is not built.
 */
export function playerRelease(): Promise<PlayerRelease> {
  reading ??= readPlayerRelease(builtPlayer).catch((error: unknown) => {
    // It may be built by the next time.
    reading = undefined;
    throw error;
  });
  return reading;
}

/** @throws {LecternError} INTERNAL_ERROR when the folder is not there, or empty. */
export async function readPlayerRelease(folder: string): Promise<PlayerRelease> {
  const [names, version] = await Promise.all([fileNames(folder), lecternVersion()]);
  if (names.length === 0)
    throw new LecternError('INTERNAL_ERROR', 'The player is not built. Run: npm run prepare');
  const files = new Map<string, Buffer>();
  const hash = createHash('sha256');
  for (const name of names) {
    const bytes = await readFile(join(folder, name));
    files.set(name, bytes);
    hash.update(`${name}\n${bytes.length}\n`).update(bytes);
  }
  return { name: `${version}-${hash.digest('hex').slice(0, 8)}`, files };
}

async function fileNames(folder: string): Promise<string[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    // What a build beside this process has not finished is no part of a release.
    const files = entries.filter((entry) => entry.isFile() && !entry.name.endsWith('.tmp'));
    return files.map(({ name }) => name).sort();
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return [];
    throw error;
  }
}

async function lecternVersion(): Promise<string> {
  const text = await readFile(join(packageRoot, 'package.json'), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
