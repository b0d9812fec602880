import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { listPlatforms } from '../../shared/models/lti-platform.ts';
import { packageRoot } from '../../shared/platform/paths.ts';
import { lectern, startCommand } from '../cli/command-line.ts';
import { buildOrganization } from '../support/factories.ts';
import { startHarness } from '../support/harness.ts';

const loader = createRequire(import.meta.url).resolve('tsx');

/** Starts `lectern lti simulate` from the sources: the compiled command line has no simulator. */
function startSimulate(environment: Record<string, string>, ...args: string[]) {
  const command = [process.execPath, '--import', loader, join(packageRoot, 'cli/main.ts'), 'lti', 'simulate'];
  return startCommand([...command, ...args], environment);
}

const ready = /The LTI platform is ready at (\S+)/;

async function printedAddress(running: ReturnType<typeof startCommand>): Promise<string> {
  const [, address = ''] = ready.exec(await running.printed(ready)) ?? [];
  return address;
}

test('the platform runs until Ctrl-C, and begins with the tool that it was told of', async () => {
  const tool = 'https://tool.example/register?a=1';
  const running = startSimulate({}, '--port', '0', '--tool', tool);
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
  const run = () => startSimulate(environment, '--port', String(port), '--org', organization.slug);
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

test('an occupied port, and a Lectern that may not reach the platform, are reported with advice', async () => {
  const harness = await startHarness();
  onTestFinished(() => harness.close());
  const { organization } = await buildOrganization(harness);
  const port = await freePort();
  const args = ['--port', String(port)];
  const apart = await startSimulate(harness.environment, ...args, '--org', organization.slug).finished;
  expect(apart).toMatchObject({ code: 1, stdout: '' });
  expect(apart.stderr).toContain(`LECTERN_ALLOWED_PRIVATE_HOSTS=127.0.0.1:${port}`);

  const server = createServer().listen(port, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const taken = await startSimulate({}, ...args).finished;
  expect(taken).toMatchObject({ code: 1, stdout: '' });
  expect(taken.stderr).toContain('--port');
});

test('a release contains no simulator, and its command says how to run it', async () => {
  const { code, stderr } = await lectern({}, 'lti', 'simulate');
  expect(existsSync(join(packageRoot, 'dist/simulator'))).toBe(false);
  expect({ code, stderr }).toStrictEqual({
    code: 1,
    stderr:
      'lectern: `lti simulate` is a development tool that releases do not contain. Run it from a checkout of Lectern: npm run -s lectern -- lti simulate\n',
  });
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
