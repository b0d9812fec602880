import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { demoOrganization, demoVersion } from '../../cli/lessons/demo-lesson.ts';
import { packageRoot } from '../../shared/platform/paths.ts';
import { lecternHere } from '../cli/command-line.ts';
import { shellBlocks } from '../support/shell-blocks.ts';
import { useApi } from '../support/use.ts';
import { temporaryFolder } from '../support/folders.ts';

const run = promisify(execFile);

/** Tools in export.md that some machines lack. */
const tools = ['jq', 'unzip', 'sha256sum'];

/** Pages whose quick start goes on from integrate.md. */
const quickStarts = ['cli', 'packages', 'widgets', 'embed', 'progress', 'player-api'].map(
  (name) => `docs/${name}.md`,
);

const shorthand = 'lectern() { npm run -s lectern -- "$@"; }';

const api = useApi({}, { worker: true });

/**
 * Runs `lectern` for a shell inside this process, where its modules are loaded; arguments are
 * separated by zero bytes.
 */
async function serveLectern(): Promise<string> {
  const server = createServer((request, response) => {
    void buffer(request).then(async (body) => {
      const args = body.toString('utf8').split('\0').slice(0, -1);
      const { code, stdout, stderr } = await lecternHere(api.environment, ...args);
      response.statusCode = code === 0 ? 200 : 500;
      response.end(code === 0 ? stdout : `${stdout}\n${stderr}`);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Blocks with these texts need a network or tools that a test lacks. */
async function notRun(): Promise<string[]> {
  const { stdout } = await run('bash', [
    '-c',
    `for tool in ${tools.join(' ')}; do type -t $tool || echo no; done`,
  ]);
  const types = stdout.trim().split('\n');
  return ['npm ci', ...tools.filter((_, index) => types[index] === 'no')];
}

test('the commands of README, of guides for integrators, and of quick starts between them run as printed, after the demo', async () => {
  await demoVersion(api.db, api.config, await demoOrganization(api.db), new AbortController().signal);
  const printed = [
    ...[await shellBlocks('README.md'), await shellBlocks('docs/integrate.md')],
    ...(await Promise.all(quickStarts.map((page) => shellBlocks(page, '## Quick start')))),
    ...[await shellBlocks('docs/learners.md'), await shellBlocks('docs/privacy.md')],
    ...[await shellBlocks('docs/export.md'), await shellBlocks('docs/player.md', '## Quick start')],
    // An archive is a package too.
    ['cp how-tides-work-v1.zip lesson.zip\n'],
    await shellBlocks('docs/content-api.md'),
  ].flat();
  const left = await notRun();
  const lectern = `printf '%s\\0' "$@" | curl -s --fail-with-body --data-binary @- '${await serveLectern()}'`;
  const cwd = await temporaryFolder();
  const commands = printed.filter((block) => !left.some((text) => block.includes(text))).join('\n');
  expect(commands.split(shorthand)).toHaveLength(3);
  const script = commands
    .replaceAll(shorthand, `lectern() { ${lectern}; }`)
    .replaceAll('demo/lesson', join(packageRoot, 'demo', 'lesson'))
    .replaceAll('http://127.0.0.1:3000', api.url);
  const command = ['-c', `set -eo pipefail\n${script}`];
  const { stdout, stderr } = await run('bash', command, { cwd, timeout: 200_000 });
  expect(stderr).toBe('');
  expect(stdout).toMatch(/"learnerId":"learner-7f3a","status":"completed","score":1,"maxScore":22/);
  expect(stdout).toContain('No progress found for this learner and lesson');
  expect(stdout).toMatch(/^200 \w+\/[\w-]+ \d+$/m);
  // Respond-async, the event stream, cancelling, caching, and resuming a download.
  expect(stdout).toMatch(/^HTTP\/1\.1 202 [^]*^data: \{"status":"ready"[^]*^204$[^]*^304\n206$/m);
  expect(stdout).toMatch(/"wouldRemove":\{"progress":0/);
  // The import, and the lesson that was deleted at last. A shell's prompt follows each response on a separate line.
  expect(stdout).toMatch(/^data: \{[^\n]*"status":"imported"[^]*\n$/m);
  for (const name of ['how-tides-work.zip', 'how-tides-work-v1.zip']) {
    expect((await readFile(join(cwd, name))).subarray(0, 4).toString('latin1')).toBe('PK\u0003\u0004');
  }
}, 420_000);
