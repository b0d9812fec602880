import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { createHttpServer } from '../../api/http/http-server.ts';
import type { ServerLimits } from '../../api/http/http-server.ts';
import { createLogger } from '../../shared/platform/log.ts';

/** Starts a server, by default on a free port; `close` ends open connections, too. */
export async function listen(server: Server, host = '127.0.0.1', port = 0) {
  server.listen(port, host);
  await once(server, 'listening');
  return {
    origin: `http://${host}:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Serves with the API's HTTP server until the end of the test; returns the URL. */
export async function serve(
  handle: Parameters<typeof createHttpServer>[0],
  limits: Partial<ServerLimits> = {},
): Promise<string> {
  const server = createHttpServer(
    handle,
    { requestTimeoutMs: 30_000, idleTimeoutMs: 60_000, keepAliveMs: 65_000, ...limits },
    createLogger({ logLevel: 'silent' }, 'test'),
  );
  const { origin, close } = await listen(server);
  onTestFinished(close);
  return origin;
}
