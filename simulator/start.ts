import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createApp } from './app.ts';
import { createPlatformKey } from './keys.ts';
import { createPlatform } from './platform.ts';
import type { PlatformSettings } from './platform.ts';
import { createSimulator } from './simulator.ts';
import type { Simulator } from './simulator.ts';

export interface SimulatorOptions extends PlatformSettings {
  /** A free one by default. */
  port?: number;
  /** The host name in all URLs. The platform listens on 127.0.0.1 in any case. */
  hostname?: '127.0.0.1' | 'localhost';
}

/** Starts a platform with a few users and a course. The caller closes it. */
export async function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const { port = 0, hostname = '127.0.0.1', ...settings } = options;
  const key = await createPlatformKey();
  const server = createServer();
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://${hostname}:${(server.address() as AddressInfo).port}`;
  const platform = createPlatform(url, key, settings);
  const handle = createApp(platform).callback();
  server.on('request', (request, response) => void handle(request, response));
  return createSimulator(platform, async () => {
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  });
}
