import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';

const idleCheckMilliseconds = 200;

/**
 * Prepares the end of an HTTP server, before it listens: the function given takes no more connections, ends those
 * without a request at once, and resolves when the others are done.
 *
 * Node by itself would wait for connections that never sent anything, as browsers and load balancers hold them ready.
 */
export function prepareEnd(server: Server): () => Promise<void> {
  const silent = new Set<Socket>();
  server.on('connection', (socket) => {
    silent.add(socket);
    socket.once('close', () => silent.delete(socket));
  });
  for (const event of ['request', 'checkContinue', 'checkExpectation']) {
    server.on(event, ({ socket }: IncomingMessage) => silent.delete(socket));
  }
  return async () => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    for (const socket of silent) socket.destroy();
    server.closeIdleConnections();
    // Busy connections would be kept alive afterwards, for a next request that gets no response.
    const timer = setInterval(() => server.closeIdleConnections(), idleCheckMilliseconds);
    await closed.finally(() => clearInterval(timer));
  };
}
