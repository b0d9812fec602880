import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ChildProcess } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import type { Organization } from '../../shared/models/organization.ts';
import { buildOrganization, buildPackage, buildVersion } from '../support/factories.ts';
import { startHarness } from '../support/harness.ts';
import type { Harness } from '../support/harness.ts';
import { startOrigin } from '../support/origin.ts';
import type { Origin } from '../support/origin.ts';
import { waitFor } from '../support/wait-for.ts';
import { ask, expectError } from '../support/answers.ts';
import { startApiProcess } from '../support/api-process.ts';
import { follow, widgetPath } from '../player/player-files.ts';
import { startLectern } from '../cli/command-line.ts';

const maxBytes = 2 * 1024 ** 2;

let origin: Origin;
let harness: Harness;
let api: string;
let ours: Organization;
let theirs: Organization;
beforeAll(async () => {
  origin = await startOrigin();
  harness = await startHarness({ LECTERN_ALLOWED_PRIVATE_HOSTS: origin.host });
  api = await harness.startApi();
  ours = (await buildOrganization(harness)).organization;
  theirs = (await buildOrganization(harness)).organization;
});
afterAll(async () => {
  await harness.close();
  await origin.close();
});

/** The parsers that this process has started in a test. */
let parsers: ChildProcess[];
const onSpawn = (message: unknown) => {
  const { process } = message as { process: ChildProcess };
  // The arguments are known once it has been spawned.
  process.once('spawn', () => {
    if (process.spawnargs.includes('--experimental-vm-modules')) parsers.push(process);
  });
};
beforeEach(() => {
  parsers = [];
  subscribe('child_process', onSpawn);
});
afterEach(() => void unsubscribe('child_process', onSpawn));

/** A module of the largest size that needs seconds to parse: each reference is looked up in 900 scopes. */
function slowModule(name: string): string {
  const [start, end] = [`export default '${name}';${'{let a;'.repeat(900)}`, '}'.repeat(900)];
  return start + 'x;'.repeat(Math.floor((maxBytes - start.length - end.length) / 2)) + end;
}

async function build(owner: Organization, name: string, module: string): Promise<LessonVersion> {
  origin.serve(`/${name}.js`, module, { contentType: 'text/javascript' });
  const widgets = [{ widgetType: 'Dial', sourceUrl: origin.url(`/${name}.js`) }];
  const blocks = () => [{ type: 'Dial', props: { id: 'a' } }];
  return buildVersion(harness, owner, (await buildPackage({ widgets, blocks })).path);
}

test("an organization's slow modules leave room for another's, and none is parsed twice", async () => {
  const names = ['a', 'b', 'c', 'd'];
  const slow = await Promise.all(names.map((name) => build(theirs, `slow-${name}`, slowModule(name))));
  const quick = await build(ours, 'quick', 'export default 1;');
  const paths = slow.map((version) => widgetPath(version, 'Dial.js'));
  // Clients that leave, as soon as a parser runs, start nothing again.
  const left = new AbortController();
  const leaving = paths.map((path) => ask(api + path, { signal: left.signal }).catch(() => null));
  await waitFor('a parser', () => parsers.length > 0, 60_000);
  left.abort();
  await Promise.all(leaving);
  // Each module of an organization waits for the one before it.
  const signal = AbortSignal.timeout(150_000);
  let refused = 0;
  const asked = paths
    .flatMap((path) => [path, path])
    .map((path) => ask(api + path, { signal }).finally(() => (refused += 1)));
  const answers = Promise.all(asked);
  // It is awaited below, unless an expectation fails before.
  answers.catch(() => undefined);
  expect((await follow(api, widgetPath(quick, 'Dial.js'))).body.toString()).toBe('export default 1;');
  // Each of theirs that was checked by then gives two answers.
  expect(refused).toBeLessThan(asked.length);
  for (const answer of await answers) expectError(answer, 404, 'Widget not available');
  expectError(await ask(`${api}${paths[0]}`), 404, 'Widget not available');
  expect(parsers).toHaveLength(names.length + 1);
}, 180_000);

test('a module of nothing but imports is parsed within the limits', async () => {
  const imports = 'import("");';
  const start = 'export default 1;';
  const module = start + imports.repeat(Math.floor((maxBytes - start.length) / imports.length));
  const version = await build(ours, 'imports', module);
  expect((await follow(api, widgetPath(version, 'Dial.js'))).body.toString()).toBe(module);
}, 60_000);

test('a command that parses a slow module refuses it soon, and ends at once on Ctrl-C', async () => {
  origin.serve('/command.js', slowModule('command'), { contentType: 'text/javascript' });
  const url = origin.url('/command.js');
  const register = ['widget', 'register', '--org', ours.slug, '--type', 'Dial', '--js', url];
  const started = startLectern(harness.environment, ...register);
  const parser = await waitFor('a parser', async () => (await childrenOf(started.pid))[0], 60_000);
  started.kill('SIGINT', 'group');
  expect(await started.finished).toMatchObject({ code: 1, stdout: '', stderr: 'lectern: interrupted\n' });
  await waitFor('the end of the parser', async () => !(await isParser(parser)));

  const refused = await startLectern(harness.environment, ...register).finished;
  const fault = 'the module takes too much time or memory to parse';
  expect(refused).toMatchObject({ code: 1, stderr: `lectern: Cannot use ${url}: ${fault}\n` });
}, 180_000);

test('an API that shuts down leaves no parser', async () => {
  const version = await build(theirs, 'slow-end', slowModule('end'));
  const process = await startApiProcess(harness);
  onTestFinished(async () => void (await process.end('SIGKILL')));
  void ask(process.url + widgetPath(version, 'Dial.js')).catch(() => null);
  const parser = await waitFor('a parser', async () => (await childrenOf(process.pid))[0], 60_000);
  expect(await process.end()).toBe('exit code 0');
  await waitFor('the end of the parser', async () => !(await isParser(parser)));
}, 180_000);

async function childrenOf(pid: number): Promise<string[]> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
  const pids = children.trim().split(' ');
  const parsers = await Promise.all(pids.map(isParser));
  return pids.filter((_, index) => parsers[index]);
}

/** A process that has ended has no arguments. */
async function isParser(pid: string): Promise<boolean> {
  const args = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  return args.includes('--experimental-vm-modules');
}
