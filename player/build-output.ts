import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { BuildOptions } from 'esbuild';

/* What the builds of the player and of the console share. */

/** The same sources make the same bytes on every machine: releases are named after their digest. */
export const commonOptions = {
  write: false,
  bundle: true,
  minify: true,
  // The support table of docs/player.md. What esbuild cannot replace fails test/player/browsers.test.ts.
  target: ['chrome100', 'edge100', 'firefox100', 'safari15.4', 'ios15.4'],
  charset: 'utf8',
  external: ['*.woff2'],
  // The sanitizer's license requires its notice to stay with it.
  legalComments: 'eof',
  logLevel: 'warning',
} satisfies BuildOptions;

export interface OutputFile {
  path: string;
  contents: Uint8Array;
}

/** Writes files to a folder and removes all others. */
export async function writeFolder(folder: string, files: OutputFile[]): Promise<string[]> {
  await mkdir(folder, { recursive: true });
  const written = await Promise.all(
    files.map(async ({ path, contents }) => {
      await replaceFile(path, contents);
      return basename(path);
    }),
  );
  const stale = (await readdir(folder)).filter((name) => !written.includes(name) && !name.endsWith('.tmp'));
  await Promise.all(stale.map((name) => rm(join(folder, name), { recursive: true })));
  return written.sort();
}

/** Writes a file atomically, so that a server or another build never reads half of it. */
async function replaceFile(path: string, contents: Uint8Array): Promise<void> {
  const before = await readFile(path).catch(() => undefined);
  if (before?.equals(contents)) return;
  const temporary = `${path}.${process.pid}.tmp`;
  await writeFile(temporary, contents);
  await rename(temporary, path);
}
