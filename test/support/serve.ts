import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { createHttpServer } from '../../api/http/http-server.ts';
import type { ServerLimits } from '../../api/http/http-server.ts';
import { createLogger } from '../../shared/platform/log.ts';

/** Serves with the API's HTTP server until the end of the test; returns the URL. */
export async function serve(
  handle: Parameters<typeof createHttpServer>[0],
  limits: Partial<ServerLimits> = {},
): Promise<string> {
  const server = createHttpServer(
    handle,
    { requestTimeoutMs: 30_000, idleTimeoutMs: 60_000, ...limits },
    createLogger({ logLevel: 'silent' }, 'test'),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
