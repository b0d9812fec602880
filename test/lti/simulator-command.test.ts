import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { listPlatforms } from '../../shared/models/lti-platform.ts';
import { lectern, lecternCommand, startCommand } from '../cli/command-line.ts';
import { buildOrganization } from '../support/factories.ts';
import { startHarness } from '../support/harness.ts';

const ready = /The LTI platform is ready at (\S+)/;

async function printedAddress(running: ReturnType<typeof startCommand>): Promise<string> {
  const [, address = ''] = ready.exec(await running.printed(ready)) ?? [];
  return address;
}

test('the platform runs until Ctrl-C, and begins with the tool that it was told of', async () => {
  const tool = 'https://tool.example/register?a=1';
  const args = ['lti', 'simulate', '--port', '0', '--tool', tool];
  const running = startCommand([...lecternCommand, ...args], {});
  const page = await fetch(await printedAddress(running));
  expect(await page.text()).toContain(`value="${tool}"`);
  running.kill('SIGINT');
  expect(await running.finished).toMatchObject({ code: 0, stderr: '' });
});

test('with --org it is connected to Lectern for as long as it runs', async () => {
  const harness = await startHarness();
  onTestFinished(() => harness.close());
  const { organization } = await buildOrganization(harness);
  const port = await freePort();
  const environment = {
    ...harness.environment,
    PUBLIC_URL: 'http://localhost:3999',
    LECTERN_ALLOWED_PRIVATE_HOSTS: `127.0.0.1:${port}`,
  };
  const run = () => {
    const args = ['lti', 'simulate', '--port', String(port), '--org', organization.slug];
    return startCommand([...lecternCommand, ...args], environment);
  };
  const killed = run();
  await printedAddress(killed);
  killed.kill('SIGKILL');
  await killed.finished;

  const running = run();
  const address = await printedAddress(running);
  const platforms = await listPlatforms(harness.db, organization._id);
  expect(platforms).toMatchObject([
    {
      issuer: address.replace(/\/$/, ''),
      jwksUrl: `${address}jwks`,
      tokenUrl: `${address}token`,
      authUrl: `${address}authorize`,
      deploymentIds: [expect.any(String)],
      status: 'active',
    },
  ]);
  const tools = await (await fetch(`${address}tools`)).text();
  expect(tools).toContain('http://localhost:3999/lti/login');
  expect(tools).toContain(platforms[0]?.clientId);
  running.kill('SIGINT');
  expect(await running.finished).toMatchObject({ code: 0, stderr: '' });
  expect(await listPlatforms(harness.db, organization._id)).toStrictEqual([]);
});

test('a port that is taken, and a Lectern that may not reach the platform, are told with what to do', async () => {
  const harness = await startHarness();
  onTestFinished(() => harness.close());
  const { organization } = await buildOrganization(harness);
  const port = await freePort();
  const args = ['lti', 'simulate', '--port', String(port)];
  const apart = await lectern(harness.environment, ...args, '--org', organization.slug);
  expect(apart).toMatchObject({ code: 1, stdout: '' });
  expect(apart.stderr).toContain(`LECTERN_ALLOWED_PRIVATE_HOSTS=127.0.0.1:${port}`);

  const server = createServer().listen(port, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const taken = await lectern({}, ...args);
  expect(taken).toMatchObject({ code: 1, stdout: '' });
  expect(taken.stderr).toContain('--port');
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
