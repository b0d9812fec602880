import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { expect } from 'vitest';
import { packageRoot } from '../../shared/platform/paths.ts';
import { lecternCommand, startCommand } from '../cli/command-line.ts';
import type { Environment } from '../cli/command-line.ts';

const tsx = createRequire(import.meta.url).resolve('tsx');

/** Starts an installation with embedded servers from the sources, as `npm start` does. */
export async function startInstallation(
  environment: Environment,
): Promise<{ address: string; stop(): Promise<void> }> {
  const command = [process.execPath, '--import', tsx, join(packageRoot, 'cli', 'main.ts'), 'start'];
  const running = startCommand(command, environment);
  const ready = await running.printed(/Lectern is ready at http:\/\/\S+/);
  return {
    address: ready.replace('Lectern is ready at ', ''),
    async stop() {
      running.kill('SIGINT');
      expect((await running.finished).code).toBe(0);
    },
  };
}

type Command = (...args: string[]) => Promise<Record<string, string>>;

/** Returns a function that runs commands and returns their JSON output. */
export function commandsOf(environment: Environment): Command {
  return async (...args) => {
    const { code, stdout, stderr } = await startCommand([...lecternCommand, ...args, '--json'], environment)
      .finished;
    expect({ code, stderr }).toMatchObject({ code: 0 });
    return JSON.parse(stdout) as Record<string, string>;
  };
}

/** Returns the data that learners, integrators and platforms would miss after a loss. */
export async function lookAt(address: string, run: Command, known: Known) {
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
    platforms: await run('platform', 'list', '--org', 'acme'),
  };
}

export interface Known {
  credentials: string;
  lessonId: string;
  versionId: string;
  token: string;
}

/** Fills an empty installation with an organization, credentials, a lesson, a platform, and a learner's progress. */
export async function fill(
  address: string,
  run: Command,
  lesson = join(packageRoot, 'demo', 'lesson'),
): Promise<Known> {
  await run('org', 'create', '--slug', 'acme', '--name', 'Acme', '--plan', 'edtech');
  const { credentials = '' } = await run('key', 'create', '--org', 'acme');
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
      currentSectionIndex: 0,
      currentStepIndex: 1,
      progressData: { a: 1 },
    }),
  });
  expect(written.status).toBe(200);
  return { credentials, lessonId, versionId, token };
}
