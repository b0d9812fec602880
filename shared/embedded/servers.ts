import { access, constants, mkdir } from 'node:fs/promises';
import type { Config } from '../platform/config.ts';
import { acquireEmbeddedServers } from './client.ts';
import { LecternError, messageOf } from '../platform/errors.ts';

/** Where MongoDB and Redis are, and how to let go of them when they are embedded. */
export interface Servers {
  mongodbUri: string;
  redisUrl: string;
  release(): Promise<void>;
}

/**
 * The servers that the configuration names; those it does not name are the embedded ones of the data directory,
 * started where they do not run.
 *
 * @param report told what is being started or fetched, for people.
 * @throws {LecternError} when the data directory cannot be written to; an error to show when a server does not start.
 */
export async function findServers(config: Config, report: (message: string) => void): Promise<Servers> {
  const { mongodbUri, redisUrl, dataDir, cacheDir } = config;
  if (mongodbUri !== undefined && redisUrl !== undefined) {
    return { mongodbUri, redisUrl, release: () => Promise.resolve() };
  }
  await createDataDirectory(dataDir);
  const embedded = await acquireEmbeddedServers({
    dataDir,
    cacheDir,
    report,
    needs: { mongodb: mongodbUri === undefined, redis: redisUrl === undefined },
  });
  return {
    mongodbUri: mongodbUri ?? embedded.mongodbUri,
    redisUrl: redisUrl ?? embedded.redisUrl,
    release: () => embedded.release(),
  };
}

async function createDataDirectory(dataDir: string): Promise<void> {
  try {
    await mkdir(dataDir, { recursive: true });
    await access(dataDir, constants.W_OK);
  } catch (error) {
    throw new LecternError(
      'INTERNAL_ERROR',
      `The data directory ${dataDir} cannot be written to (${messageOf(error)}). Set LECTERN_DATA_DIR to one that can.`,
      { cause: error },
    );
  }
}
