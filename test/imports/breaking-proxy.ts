import { connect, createServer } from 'node:net';
import type { AddressInfo } from 'node:net';

/** Starts a proxy that breaks a connection once it has passed on some bytes, a number of times. */
export async function startBreakingProxy(
  target: string,
  { everyBytes, times }: { everyBytes: number; times: number },
) {
  const { hostname, port } = new URL(target);
  let breaks = 0;
  const proxy = createServer((client) => {
    const server = connect(Number(port), hostname);
    const end = () => {
      client.destroy();
      server.destroy();
    };
    let passed = 0;
    client.on('data', (bytes: Buffer) => {
      passed += bytes.length;
      if (passed >= everyBytes && breaks < times) {
        breaks += 1;
        return end();
      }
      if (!server.write(bytes)) {
        client.pause();
        server.once('drain', () => client.resume());
      }
    });
    server.pipe(client);
    for (const socket of [client, server]) socket.on('close', end).on('error', end);
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    /** Returns how many connections it broke. */
    breaks: () => breaks,
    close: () => new Promise<void>((resolve) => proxy.close(() => resolve())),
  };
}
