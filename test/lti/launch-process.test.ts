import { connect } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { claim } from '../../shared/lti/claims.ts';
import { startApiProcess } from '../support/api-process.ts';
import { waitFor } from '../support/wait-for.ts';
import { tokenOf, useLaunchLab } from './support/launch-lab.ts';

const lab = useLaunchLab();

test('the log has each launch with its platform and problem, but no secrets and no identity', async () => {
  const { harness, simulator } = lab;
  const api = await startApiProcess(harness, {
    LOG_LEVEL: 'debug',
    LECTERN_ALLOWED_PRIVATE_HOSTS: new URL(simulator.issuer).host,
  });
  const { tool, platform } = await lab.register(api.url);
  const link = lab.addLink({ tool });
  const { learner: user } = simulator.sample.users;
  const launches = [
    await lab.drive({ link }),
    await lab.drive({ link, tampering: { claims: { [claim.deploymentId]: 'another' } } }),
  ];
  const answers = [];
  for (const launch of launches) answers.push(await simulator.submitLaunch(launch));
  const unknown = { iss: 'https://unknown.example' };
  await lab.sendLogin({ link, target: 'window', login: unknown });

  const known = { platform: platform._id, organization: platform.organizationId };
  await waitFor('the last line', () => api.output().includes('unknown.example'));
  expect(api.log().filter(({ msg }) => msg.startsWith('launch'))).toMatchObject([
    { msg: 'launch', outcome: 'lesson', ...known },
    { msg: 'launch rejected', code: 'unknown_deployment', deployment: 'another', ...known },
    { msg: 'launch rejected', code: 'unknown_platform', issuer: 'https://unknown.example' },
  ]);
  await api.end();
  const secrets = [
    ...launches.flatMap(({ fields, cookie }) => [fields.id_token, fields.state, cookie.split('=')[1]]),
    ...answers.map((answer) => tokenOf(answer)).filter((token) => token !== undefined),
    ...[user.id, user.loginHint, user.name, user.email],
  ];
  expect(secrets.every((secret) => secret !== undefined && secret !== '')).toBe(true);
  for (const secret of secrets) expect(api.output()).not.toContain(secret);
});

const kB = 1024;

/** Sends the beginning of a launch; `received` grows by the response. */
function beginLaunch(sent: number): { received: string } {
  const { hostname, port } = new URL(lab.address);
  const socket = connect({ host: hostname, port: Number(port) });
  onTestFinished(() => void socket.destroy());
  const begun = { received: '' };
  socket.on('data', (chunk) => (begun.received += chunk.toString('latin1')));
  // The server may close a connection whose body it rejects.
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

test('large launches that clients of one address never finish are rejected from 2 MiB on, and other launches are not', async () => {
  const begun = Array.from({ length: 24 }, () => beginLaunch(250 * kB));
  const rejected = () => begun.filter(({ received }) => received.startsWith('HTTP/1.1 429 '));
  await waitFor('a rejected launch', () => rejected().length > 0, 20_000);
  expect(rejected()[0]?.received).toContain('\r\nRetry-After: 5\r\n');

  expect((await lab.launch()).status).toBe(303);
});
