import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { packageRoot } from '../../shared/platform/paths.ts';
import { lectern, startLectern } from '../cli/command-line.ts';
import type { Environment, Running } from '../cli/command-line.ts';
import { shellBlocks } from '../support/shell-blocks.ts';

/** An installation with embedded servers, as `npm start` runs it, in a folder of its own. */
async function start(environment: Environment): Promise<{ address: string; stop(): Promise<void> }> {
  const running: Running = startLectern(environment, 'start');
  const ready = await running.printed(/Lectern is ready at http:\/\/\S+/);
  return {
    address: ready.replace('Lectern is ready at ', ''),
    async stop() {
      running.kill('SIGINT');
      expect((await running.finished).code).toBe(0);
    },
  };
}

async function json(environment: Environment, ...args: string[]): Promise<Record<string, string>> {
  const { code, stdout, stderr } = await lectern(environment, ...args, '--json');
  expect({ code, stderr }).toMatchObject({ code: 0 });
  return JSON.parse(stdout) as Record<string, string>;
}

/** What learners, integrators and platforms would miss after a loss. */
async function lookAt(address: string, environment: Environment, known: Known) {
  const { credentials, lessonId, versionId, token } = known;
  const headers = { authorization: `Bearer ${credentials}` };
  const ask = async (path: string) => {
    const response = await fetch(address + path, { headers });
    expect({ path, status: response.status }).toEqual({ path, status: 200 });
    return Buffer.from(await response.arrayBuffer());
  };
  const archive = await ask(`/api/lessons/${lessonId}/versions/${versionId}/export-zip`);
  return {
    archive: createHash('sha256').update(archive).digest('hex'),
    progress: (await ask(`/api/public/lessons/${lessonId}/progress/ada`)).toString(),
    session: (await ask(`/api/public/lessons/${lessonId}/session?token=${token}`)).toString(),
    lessons: (await ask('/api/lessons')).toString(),
    platforms: await json(environment, 'platform', 'list', '--org', 'acme'),
  };
}

interface Known {
  credentials: string;
  lessonId: string;
  versionId: string;
  token: string;
}

/** Fills an empty installation: an organization, credentials, a lesson, a platform, and progress of a learner. */
async function fill(address: string, environment: Environment): Promise<Known> {
  const run = (...args: string[]) => json(environment, ...args);
  await run('org', 'create', '--slug', 'acme', '--name', 'Acme', '--plan', 'edtech');
  const { credentials = '' } = await run('key', 'create', '--org', 'acme');
  const lesson = join(packageRoot, 'demo', 'lesson');
  const { lessonId = '', versionId = '' } = await run(
    'lesson',
    'import',
    lesson,
    '--org',
    'acme',
    '--publish',
  );
  const urls = ['--auth-url', '--token-url', '--jwks-url'].flatMap((name) => [name, 'https://lms.example/x']);
  const platform = ['--issuer', 'https://lms.example', '--client-id', 'c', '--deployment-id', 'd', ...urls];
  await run('platform', 'add', '--org', 'acme', ...platform);
  const { token = '' } = await run(
    'token',
    'sign',
    '--lesson',
    lessonId,
    '--learner',
    'ada',
    '--timeout',
    '86400',
  );
  const written = await fetch(`${address}/api/public/lessons/${lessonId}/session?token=${token}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      versionId,
      revision: 0,
      currentSectionIndex: 0,
      currentStepIndex: 1,
      progressData: { a: 1 },
    }),
  });
  expect(written.status).toBe(200);
  return { credentials, lessonId, versionId, token };
}

test('what docs/operate/backup.md says brings an installation with embedded servers back after a loss of all its data', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'lectern-drill-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const dataDir = join(folder, '.lectern');
  const environment = { LECTERN_DATA_DIR: dataDir, PORT: '0', LOG_LEVEL: 'warn' };
  const [backup = '', restore = ''] = await shellBlocks(
    'docs/operate/backup.md',
    '## With the embedded servers',
  );
  const shell = (commands: string) =>
    promisify(execFile)('bash', ['-c', `set -e\n${commands}`], { cwd: folder });

  const first = await start(environment);
  const known = await fill(first.address, environment);
  const before = await lookAt(first.address, environment, known);
  await first.stop();
  await shell(backup);

  // The loss, and an installation that was begun in its place: nothing of before is there.
  await rm(dataDir, { recursive: true });
  const empty = await start(environment);
  const denied = await fetch(`${empty.address}/api/lessons`, {
    headers: { authorization: `Bearer ${known.credentials}` },
  });
  expect(denied.status).toBe(401);
  await empty.stop();

  await shell(restore);
  const second = await start(environment);
  expect(await lookAt(second.address, environment, known)).toEqual(before);
  await second.stop();
}, 600_000);
