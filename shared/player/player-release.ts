import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { PlayerRelease } from '../models/player-release.ts';
import { codeOf, LecternError } from '../platform/errors.ts';
import { packageRoot } from '../platform/paths.ts';

/** The output folder of player/build.ts. */
const builtPlayer = join(packageRoot, 'player', 'dist', 'player');

let reading: Promise<PlayerRelease> | undefined;

/**
 * Returns the player of this Lectern. It is read once per process.
 *
 * @throws {LecternError} INTERNAL_ERROR if it is not built.
 */
export function playerRelease(): Promise<PlayerRelease> {
  reading ??= readPlayerRelease(builtPlayer).catch((error: unknown) => {
    // The player may be built before the next call.
    reading = undefined;
    throw error;
  });
  return reading;
}

/** @throws {LecternError} INTERNAL_ERROR if the folder is missing or empty. */
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

/** Returns the CSP source expression of the script that runs in the frames of custom widgets. */
export function widgetFrameSource(files: PlayerRelease['files']): string {
  return digestSource(files.get('widget-frame.js') ?? '');
}

/** Returns the CSP source expression of an inline script. */
export function digestSource(script: string | Uint8Array): string {
  return `'sha256-${createHash('sha256').update(script).digest('base64')}'`;
}

async function fileNames(folder: string): Promise<string[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    // Unfinished files of a running build are not part of a release.
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
