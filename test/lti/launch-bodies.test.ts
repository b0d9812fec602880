import { connect } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { waitFor } from '../support/wait-for.ts';
import { useLaunchLab } from './support/launch-lab.ts';

const lab = useLaunchLab();

const kB = 1024;
const deadlineMs = 20_000;

/** Sends the beginning of a launch; `received` grows by what comes back. */
function beginLaunch(sent: number): { received: string } {
  const { hostname, port } = new URL(lab.address);
  const socket = connect({ host: hostname, port: Number(port) });
  onTestFinished(() => void socket.destroy());
  const begun = { received: '' };
  socket.on('data', (chunk) => (begun.received += chunk.toString('latin1')));
  // The server may close a connection whose body it refuses.
  socket.on('error', () => undefined);
  socket.write(
    [
      'POST /lti/launch HTTP/1.1',
      `Host: ${hostname}`,
      'Content-Type: application/x-www-form-urlencoded',
      `Content-Length: ${256 * kB}`,
      '',
      `id_token=${'x'.repeat(sent)}`,
    ].join('\r\n'),
  );
  return begun;
}

test(
  'large launches that clients of one address never finish are refused from 2 MiB on, and other launches are not',
  async () => {
    const begun = Array.from({ length: 24 }, () => beginLaunch(250 * kB));
    const refused = () => begun.filter(({ received }) => received.startsWith('HTTP/1.1 429 '));
    await waitFor('a launch that is refused', () => refused().length > 0, deadlineMs);
    expect(refused()[0]?.received).toContain('\r\nRetry-After: 5\r\n');

    expect((await lab.launch()).status).toBe(303);
  },
  2 * deadlineMs,
);
