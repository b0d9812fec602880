import type { Config } from '../../shared/platform/config.ts';
import { LecternError } from '../../shared/platform/errors.ts';
import { localUrl, findRunningApi } from '../../shared/operations/running-api.ts';

type Needs = Pick<Config, 'publicUrl' | 'host' | 'port' | 'dataDir'>;

/**
 * Returns the URL of the API for users:
 *
 * 1. `PUBLIC_URL`
 * 2. the URL of the API that runs on the data directory, perhaps with another terminal's PORT
 * 3. the URL that `npm start` would serve; null with `PORT=0`, because the system then chooses the port
 */
export async function publicUrlOf(config: Needs): Promise<string | null> {
  const { publicUrl, host, port } = config;
  if (publicUrl !== undefined) return publicUrl;
  const running = await findRunningApi(config);
  if (running !== null) return running;
  return port === 0 ? null : localUrl(host, port);
}

/**
 * Returns the URL of Lectern for learning platforms. Without `PUBLIC_URL` only this machine can use it. The host name
 * localhost keeps its cookies apart from those of the simulated platform at 127.0.0.1.
 */
export async function platformFacingUrl(config: Needs): Promise<string> {
  const url = (await publicUrlOf(config)) ?? localUrl(config.host, config.port);
  return config.publicUrl ?? url.replace('//127.0.0.1:', '//localhost:');
}

/** Returns `PUBLIC_URL`, which formats with URLs of this service contain. @throws {LecternError} without it. */
export function requirePublicUrl({ publicUrl }: Pick<Config, 'publicUrl'>): string {
  if (publicUrl !== undefined) return publicUrl;
  throw new LecternError('BAD_REQUEST', 'This format contains URLs of this service: set PUBLIC_URL');
}
