import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import { findCommand } from '../../shared/embedded/child-process.ts';
import { parseConfig } from '../../shared/platform/config.ts';
import { packageRoot } from '../../shared/platform/paths.ts';

const run = promisify(execFile);
const folder = join(packageRoot, 'deploy', 'systemd');
const analyze = await findCommand('systemd-analyze');
if (analyze === undefined)
  process.stderr.write('\nNOT RUN: systemd-analyze is missing, which checks deploy/systemd\n\n');

const units = ['lectern-api.service', 'lectern-worker@.service'];
const dropIn = 'lectern-.service.d/lectern.conf';
const read = (name: string) => readFile(join(folder, name), 'utf8');

/** Returns the values of one directive. */
const valuesOf = (text: string, directive: string) =>
  [...text.matchAll(new RegExp(`^${directive}=(.*)$`, 'gm'))].map(([, value = '']) => value);

test('the units give each process valid settings, with every secret in a credential', async () => {
  const credentials = await mkdtemp(join(tmpdir(), 'lectern-credentials-'));
  onTestFinished(() => rm(credentials, { recursive: true }));
  const shared = await read(dropIn);
  const secret = 'a secret that is long enough for Lectern';
  const contents: Record<string, string> = {
    'mongodb-uri': 'mongodb://mongo/lectern',
    'redis-url': 'redis://redis',
    'signing-secrets': `main:${secret}`,
  };
  for (const [name] of valuesOf(shared, 'LoadCredential').map((value) => value.split(':')))
    await writeFile(join(credentials, String(name)), `${contents[String(name)] ?? secret}\n`);
  const configs = await Promise.all(
    units.map(async (unit) => {
      const lines = valuesOf(`${shared}${await read(unit)}`, 'Environment').map((line) =>
        line.replace('%d', credentials).replace('%S', '/var/lib').replace('%i', '3').split('='),
      );
      const settings = Object.fromEntries(lines) as Record<string, string>;
      return parseConfig({ PUBLIC_URL: 'https://lectern.example.com', ...settings });
    }),
  );
  expect(configs).toMatchObject([
    { host: '127.0.0.1', metricsPort: 9464, storeDir: '/var/lib/lectern/store' },
    { worker: { port: 9473 }, storeDir: '/var/lib/lectern/store' },
  ]);
  for (const unit of units) expect(valuesOf(await read(unit), 'TimeoutStopSec')).toEqual(['610']);
});

test('API and workers run under the same restrictions', async () => {
  const [api, worker] = await Promise.all(
    units.map(async (unit) =>
      (await read(unit))
        .split('\n')
        .filter((line) => /^(?:Res|Pro|Pri|No|Cap|Sys|Lock|Rem|Kill|Limit)/.test(line)),
    ),
  );
  expect(api?.length).toBeGreaterThan(20);
  expect(worker).toEqual(api);
});

describe.skipIf(analyze === undefined)('systemd-analyze', () => {
  test.each(['lectern-api.service', 'lectern-worker@1.service'])(
    'accepts %s without warnings, and rates it as little exposed',
    async (unit) => {
      const copy = await mkdtemp(join(tmpdir(), 'lectern-systemd-'));
      onTestFinished(() => rm(copy, { recursive: true }));
      await cp(folder, copy, { recursive: true });
      // Whether the path of env exists does not matter here.
      const verified = await run(String(analyze), ['verify', '--man=no', `./${unit}`], { cwd: copy });
      expect(verified.stderr).toBe('');
      // The threshold is ten times the rating from 0 to 10.
      const command = ['security', '--offline=yes', '--threshold=20', '--no-pager', `./${unit}`];
      await cp(join(copy, 'lectern-worker@.service'), join(copy, 'lectern-worker@1.service'));
      const { stdout } = await run(String(analyze), command, { cwd: copy });
      expect(stdout).toContain('Service runs under a static non-root user identity');
    },
  );
});
