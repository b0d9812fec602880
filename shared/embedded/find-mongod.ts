import { copyFile, mkdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { withFetchFolder } from './fetch-folder.ts';
import { findCommand, versionOf } from './commands.ts';
import { mongodSources } from './mongod-sources.ts';
import type { MongodSource } from './mongod-sources.ts';

export interface FindMongodOptions {
  /** The folder of fetched binaries, for all data directories of a user. */
  readonly cacheDir: string;
  /** Receives the progress of fetches. */
  readonly report: (message: string) => void;
  readonly signal: AbortSignal;
  /** Sources of binaries, best first. */
  readonly sources?: readonly MongodSource[];
  /** Finds an installed mongod. */
  readonly findInstalled?: () => Promise<string | undefined>;
}

/**
 * Returns the path of a mongod that runs on this system: the one on PATH, a cached one, or a newly fetched one. A
 * fetched binary is tested and then renamed into the cache, so the cache never holds an incomplete one, even with
 * concurrent fetches.
 *
 * @throws an error that lists the attempts and a solution.
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
      'Set MONGODB_URI to the URL of a MongoDB server, or run `docker compose up`.',
  );
}

/** The name includes the system, because different machines may share a home folder. */
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
    // One source's library may return a copy elsewhere, which must stay.
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
