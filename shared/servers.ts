import { mkdir } from 'node:fs/promises';
import type { Config } from './config.ts';
import { acquireEmbeddedServers } from './embedded/client.ts';

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
 */
export async function findServers(config: Config, report: (message: string) => void): Promise<Servers> {
  const { mongodbUri, redisUrl, dataDir, cacheDir } = config;
  if (mongodbUri !== undefined && redisUrl !== undefined) {
    return { mongodbUri, redisUrl, release: () => Promise.resolve() };
  }
  await mkdir(dataDir, { recursive: true });
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
