import { once } from 'node:events';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { forgetInstallation } from '../../shared/models/installation.ts';
import { buildOrganization, buildPackage } from '../support/factories.ts';
import { errorIn, lectern, lecternHere, lecternJson, startLectern, useCommandLine } from './command-line.ts';
import type { Environment } from './command-line.ts';
import { allEnded, descendantsOf } from './process-tree.ts';
import type { Process } from './process-tree.ts';

const { harness } = useCommandLine();

/** A running `lectern start`, with its URL, its API and its worker. */
async function startServing(settings: Environment = {}) {
  const running = startLectern({ ...harness.environment, ...settings }, 'start');
  const line = await running.printed(/Lectern is ready at \S+/);
  const children = await descendantsOf(running.pid);
  const [api, worker] = ['api/main', 'worker/main'].map((entry) => {
    const found = children.find(({ command }) => command.includes(entry));
    if (found === undefined) throw new Error(`No ${entry} among ${JSON.stringify(children)}`);
    return found;
  }) as [Process, Process];
  return { running, address: line.replace('Lectern is ready at ', ''), api, worker };
}

async function heldPort(): Promise<number> {
  const held = createServer().listen(0, '127.0.0.1');
  await once(held, 'listening');
  onTestFinished(() => void held.close());
  return (held.address() as AddressInfo).port;
}

test('start serves, reports its generated secrets in a readable line, and Ctrl-C ends all processes with 0', async () => {
  // The other tests use another pepper.
  onTestFinished(() => forgetInstallation(harness.db));
  const { running, address, api, worker } = await startServing({
    LECTERN_KEY_PEPPER: '',
    LECTERN_ASSET_SECRET: '',
  });
  expect((await fetch(`${address}/health/ready`)).status).toBe(200);
  running.kill('SIGINT', 'group');
  // npm forwards the signal that the terminal has already sent.
  running.kill('SIGINT');
  const { code, stdout, stderr } = await running.finished;
  expect(stderr).toMatch(
    /^Generated secrets .*, and stored them in \S+: LECTERN_KEY_PEPPER, LECTERN_ASSET_SECRET\. .*\nStarting the API and a worker\n$/,
  );
  expect(stdout).not.toContain('LECTERN_');
  expect(code).toBe(0);
  await allEnded([api, worker]);
  expect(await readdir(join(harness.config.dataDir, 'api'))).toStrictEqual([]);
});

test('links from commands in another terminal lead to the running API; start ends with its API, and its processes with start', async () => {
  const { running, address, api, worker } = await startServing();
  const { organization } = await buildOrganization(harness);
  const { path, lessonId } = await buildPackage();
  const other = { ...harness.environment, PORT: '3456' };
  const lesson = ['lesson', 'import', path, '--org', organization.slug, '--publish'];
  const { preview } = (await lecternJson(other, ...lesson)) as { preview: { url: string } };
  expect(preview.url.startsWith(`${address}/embed/`)).toBe(true);
  expect((await fetch(preview.url)).status).toBe(200);
  const sign = ['token', 'sign', '--lesson', lessonId, '--learner', 'ada'];
  const link = async (environment: Environment) =>
    new URL(((await lecternJson(environment, ...sign)) as { url: string }).url).origin;
  expect(await link({ ...other, PUBLIC_URL: 'https://lectern.example' })).toBe('https://lectern.example');
  const invite = ['platform', 'invite', '--org', organization.slug];
  const { url } = (await lecternJson(other, ...invite)) as { url: string };
  expect(new URL(url).origin).toBe(address.replace('127.0.0.1', 'localhost'));
  expect((await lecternHere(other, 'doctor')).stdout).toMatch(new RegExp(`ok +API +running at ${address}\n`));

  // A record of an ended process does not count, even if another process now has its id.
  const folder = join(harness.config.dataDir, 'api');
  const [name = ''] = await readdir(folder);
  const record = JSON.parse(await readFile(join(folder, name), 'utf8')) as object;
  process.kill(api.pid, 'SIGKILL');
  expect(errorIn(await running.finished, `Lectern is ready at ${address}\n`)).toBe(
    'Starting the API and a worker\nlectern: The API has ended (SIGKILL).\n',
  );
  await allEnded([worker]);
  expect(await readdir(folder)).toStrictEqual([name]);
  await writeFile(join(folder, 'reused.json'), JSON.stringify({ ...record, pid: process.pid }));
  expect(await link(other)).toBe('http://127.0.0.1:3456');
  const next = await startServing();
  expect(await link(other)).toBe(next.address);
  expect(await readdir(folder)).not.toContain(name);
  next.running.kill('SIGKILL');
  await allEnded([next.api, next.worker]);
});

test('an occupied port is reported with advice, and nothing is left behind', async () => {
  const port = await heldPort();
  const stderr = errorIn(await lectern({ ...harness.environment, PORT: String(port) }, 'start'));
  expect(stderr).toContain(`Port ${port} is in use`);
  expect(stderr).toContain('lectern: The API did not start (exit code 1).\n');
});
