import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** Starts a proxy whose connections can stop without closing, as behind a gateway that lost its state, for a test. */
export async function startFrozenProxy(target: { host: string; port: number }) {
  const pairs = new Set<[Socket, Socket]>();
  const server = createServer((client) => {
    const upstream = connect(target.port, target.host);
    const pair: [Socket, Socket] = [client, upstream];
    pairs.add(pair);
    for (const socket of pair) {
      socket.on('error', () => undefined);
      socket.on('close', () => pairs.delete(pair));
    }
    client.pipe(upstream).pipe(client);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const [client, upstream] of pairs) {
      client.destroy();
      upstream.destroy();
    }
    server.close();
  });
  return {
    port: (server.address() as AddressInfo).port,
    /** Freezes the existing connections; new ones work. */
    freeze() {
      for (const [client, upstream] of pairs) {
        client.unpipe(upstream).pause();
        upstream.unpipe(client).pause();
      }
    },
  };
}
