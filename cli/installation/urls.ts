import type { Config } from '../../shared/platform/config.ts';
import { localUrl, findRunningApi } from '../../shared/operations/running-api.ts';

type Needs = Pick<Config, 'publicUrl' | 'host' | 'port' | 'dataDir'>;

/**
 * Returns the URL under which people reach the API: `PUBLIC_URL`; else that of the API that runs on the data directory,
 * perhaps on the PORT of another terminal; else the URL where `npm start` would serve. Null with `PORT=0` and no running
 * API: the system chooses the port then.
 */
export async function publicUrlOf(config: Needs): Promise<string | null> {
  const { publicUrl, host, port } = config;
  if (publicUrl !== undefined) return publicUrl;
  const running = await findRunningApi(config);
  if (running !== null) return running;
  return port === 0 ? null : localUrl(host, port);
}

/**
 * Returns the URL by which platforms know Lectern. Without `PUBLIC_URL` it is known on this machine alone: by the name
 * localhost, which keeps its cookies apart from those of the simulated platform at 127.0.0.1.
 */
export async function platformFacingAddress(config: Needs): Promise<string> {
  const address = (await publicUrlOf(config)) ?? localUrl(config.host, config.port);
  return config.publicUrl ?? address.replace('//127.0.0.1:', '//localhost:');
}
