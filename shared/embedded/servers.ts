import { access, constants, mkdir } from 'node:fs/promises';
import type { Config } from '../platform/config.ts';
import { LecternError, messageOf } from '../platform/errors.ts';
import type { Servers } from './embedded-servers.ts';

/**
 * Returns the servers that the configuration names. If one is missing, finds or starts the embedded servers.
 *
 * @throws {LecternError} when the data directory cannot be written to; an error to show when a server does not start.
 */
export async function findServers(config: Config, report: (message: string) => void): Promise<Servers> {
  const { mongodbUri, redisUrl, dataDir, cacheDir } = config;
  if (mongodbUri !== undefined && redisUrl !== undefined)
    return { mongodbUri, redisUrl, failed: new Promise(() => undefined), release: () => Promise.resolve() };
  try {
    await mkdir(dataDir, { recursive: true });
    await access(dataDir, constants.W_OK);
  } catch (error) {
    const message = `The data directory ${dataDir} cannot be written to (${messageOf(error)}). Set LECTERN_DATA_DIR to one that can.`;
    throw new LecternError('INTERNAL_ERROR', message, { cause: error });
  }
  // Loaded only when needed: production names both servers.
  const { acquireEmbeddedServers } = await import('./embedded-servers.ts');
  const embedded = await acquireEmbeddedServers({ dataDir, cacheDir }, report);
  return {
    ...embedded,
    mongodbUri: mongodbUri ?? embedded.mongodbUri,
    redisUrl: redisUrl ?? embedded.redisUrl,
  };
}
