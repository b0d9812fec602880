import { access, constants, mkdir } from 'node:fs/promises';
import type { Config } from '../platform/config.ts';
import { LecternError, messageOf } from '../platform/errors.ts';

/** The URLs of MongoDB and Redis, and how to release them when they are embedded. */
export interface Servers {
  mongodbUri: string;
  redisUrl: string;
  release(): Promise<void>;
}

/**
 * Returns the servers that the configuration names, and starts an embedded server for each that it does not name.
 *
 * @param report receives messages for operators about starts and downloads.
 * @throws {LecternError} when the data directory cannot be written to; an error to show when a server does not start.
 */
export async function findServers(config: Config, report: (message: string) => void): Promise<Servers> {
  const { mongodbUri, redisUrl, dataDir, cacheDir } = config;
  if (mongodbUri !== undefined && redisUrl !== undefined) {
    return { mongodbUri, redisUrl, release: () => Promise.resolve() };
  }
  await createDataDirectory(dataDir);
  // Loaded only when needed: production names both servers.
  const { acquireEmbeddedServers } = await import('./client.ts');
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
