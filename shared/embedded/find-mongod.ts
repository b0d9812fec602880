import { copyFile, mkdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { withFetchFolder } from './fetch-folder.ts';
import { findCommand, versionOf } from './commands.ts';
import { mongodSources } from './mongod-sources.ts';
import type { MongodSource } from './mongod-sources.ts';

export interface FindMongodOptions {
  /** The folder in which fetched binaries are kept, shared by all data directories of a user. */
  readonly cacheDir: string;
  /** Takes what is fetched and how far it is. */
  readonly report: (message: string) => void;
  readonly signal: AbortSignal;
  /** Where binaries are fetched from, best first. */
  readonly sources?: readonly MongodSource[];
  /** How a mongod that is installed is found. */
  readonly findInstalled?: () => Promise<string | undefined>;
}

/**
 * The path of a mongod that runs on this system: the one on PATH, else one fetched before, else one fetched
 * now. A fetched binary is proved to run and then renamed into the cache, so that the cache never holds half
 * of one, also with two processes fetching at once. Throws an error that says what was tried and what to do.
 */
export async function findMongod(options: FindMongodOptions): Promise<string> {
  const { cacheDir, report, sources = mongodSources, findInstalled = () => findCommand('mongod') } = options;
  const failures: string[] = [];

  const installed = await findInstalled();
  if (installed === undefined) failures.push('mongod is not on PATH');
  else if (await versionOf(installed)) return installed;
  else failures.push(`${installed} does not run`);

  const suitable = sources.filter((source) => source.suitable);
  for (const source of suitable) {
    const cached = cachePath(cacheDir, source);
    if (await versionOf(cached)) return cached;
  }
  for (const source of suitable) {
    try {
      return await fetchInto(cachePath(cacheDir, source), source, options);
    } catch (error) {
      options.signal.throwIfAborted();
      const why = error instanceof Error ? error.message : String(error);
      failures.push(`MongoDB ${source.version} from ${source.place}: ${why}`);
      report(`MongoDB ${source.version} could not be fetched from ${source.place} (${why})`);
    }
  }
  throw new Error(
    `There is no MongoDB for the embedded server:\n${failures.map((line) => `  - ${line}\n`).join('')}` +
      'Set MONGODB_URI to the address of a MongoDB server, or run `docker compose up`.',
  );
}

/** The system is part of the name, as a home folder may be shared between different machines. */
function cachePath(cacheDir: string, { version }: MongodSource): string {
  return join(cacheDir, 'mongodb-v1', `mongod-${version}-${process.platform}-${process.arch}`);
}

async function fetchInto(target: string, source: MongodSource, options: FindMongodOptions): Promise<string> {
  const { report, signal } = options;
  const total = source.bytes === undefined ? 'MB' : `of ${megabytes(source.bytes)} MB`;
  report(`Fetching MongoDB ${source.version} from ${source.place}`);
  await withFetchFolder(options.cacheDir, async (folder) => {
    let reported = 0;
    const progress = (bytes: number) => {
      const done = megabytes(Math.min(bytes, source.bytes ?? bytes));
      if (done > reported) report(`Fetching MongoDB ${source.version}: ${done} ${total}`);
      reported = done;
    };
    const fetched = await source.fetch({ folder, progress, signal });
    if (!(await versionOf(fetched))) throw new Error('the binary does not run on this system');
    // The library of one source may know a copy elsewhere, which is not ours to move.
    const staged = join(folder, 'whole');
    await (fetched.startsWith(folder) ? rename(fetched, staged) : copyFile(fetched, staged));
    await mkdir(join(target, '..'), { recursive: true });
    await rename(staged, target);
  });
  return target;
}

function megabytes(bytes: number): number {
  return Math.round(bytes / 1_000_000);
}
