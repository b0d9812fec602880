import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { freePort } from '../../shared/embedded/child-process.ts';
import { createPlatform, listPlatforms } from '../../shared/models/lti-platform.ts';
import { packageRoot } from '../../shared/platform/paths.ts';
import { lectern, lecternHere, startCommand } from '../cli/command-line.ts';
import { buildOrganization } from '../support/factories.ts';
import { useHarness } from '../support/use.ts';

const harness = useHarness();
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

test('the platform runs until Ctrl-C, and with --org it is connected to Lectern meanwhile, if Lectern may reach it', async () => {
  const { organization } = await buildOrganization(harness);
  const port = await freePort();
  const args = ['--port', String(port), '--org', organization.slug];
  const rejected = await lecternHere(harness.environment, 'lti', 'simulate', ...args);
  expect(rejected).toMatchObject({ code: 1, stdout: '' });
  expect(rejected.stderr).toContain(`LECTERN_ALLOWED_PRIVATE_HOSTS=127.0.0.1:${port}`);

  const issuer = `http://127.0.0.1:${port}`;
  const urls = { jwksUrl: `${issuer}/jwks`, tokenUrl: `${issuer}/token`, authUrl: `${issuer}/authorize` };
  // A killed run left it behind.
  const { _id: stale } = await createPlatform(harness.db, {
    ...{ organizationId: organization._id, issuer, clientId: 'stale', deploymentIds: ['1'], ...urls },
    ...{ tokenAudience: null, name: 'LTI simulator', status: 'active' },
  });
  const allowed = { LECTERN_ALLOWED_PRIVATE_HOSTS: `127.0.0.1:${port}` };
  const running = startSimulate(
    { ...harness.environment, ...allowed, PUBLIC_URL: 'http://localhost:3999' },
    ...args,
  );
  const address = await printedAddress(running);
  const second = await lecternHere({}, 'lti', 'simulate', '--port', String(port));
  expect(second).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('--port') as string });
  const platforms = await listPlatforms(harness.db, organization._id);
  expect(platforms).toMatchObject([
    { issuer, ...urls, deploymentIds: [expect.any(String)], status: 'active' },
  ]);
  expect(platforms[0]?._id).not.toBe(stale);
  const tools = await (await fetch(`${address}tools`)).text();
  expect(tools).toContain('http://localhost:3999/lti/login');
  expect(tools).toContain(platforms[0]?.clientId);
  running.kill('SIGINT');
  expect(await running.finished).toMatchObject({ code: 0, stderr: '' });
  expect(await listPlatforms(harness.db, organization._id)).toEqual([]);
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
