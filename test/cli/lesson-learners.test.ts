import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { filesOf } from '../exports/exports.ts';
import { answerTo, storeLearners } from '../learners/build-learners.ts';
import { publishLesson } from '../player/player-lessons.ts';
import { ask } from '../support/answers.ts';
import { buildOrganization } from '../support/factories.ts';
import { useCommandLine } from './command-line.ts';
import { temporaryFolder } from '../support/folders.ts';

const { harness, run, json, errorOf } = useCommandLine();

test('lesson learners writes what the API sends, in every format', async () => {
  const { organization, headers } = await buildOrganization(harness);
  const version = await publishLesson(harness, organization);
  await storeLearners(harness.db, version, [
    { items: [answerTo('q2', ['b'])] },
    { ltiUserId: 'user' },
    { status: 'completed' },
  ]);
  const api = await harness.startApi();
  const folder = await temporaryFolder();
  const { lessonId } = version;
  for (const [format, file] of [
    ['csv', 'learners.csv'],
    ['ndjson', 'learners.ndjson'],
    ['answers', 'answers.csv'],
  ] as const) {
    const path = join(folder, file);
    const options = ['--format', format, '--status', 'in_progress'];
    expect(await json('lesson', 'learners', lessonId, '--out', folder, ...options)).toEqual({
      path,
      learners: 2,
    });
    const { body } = await ask(`${api}/api/lessons/${lessonId}/${file}?status=in_progress`, { headers });
    expect(await readFile(path, 'utf8')).toBe(body.toString());
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  }
  const { code, stderr } = await run('lesson', 'learners', lessonId, '--out', await temporaryFolder());
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
});

test('answers need a version: a draft must be named', async () => {
  const { organization } = await buildOrganization(harness);
  const draft = await publishLesson(harness, organization, { publish: false });
  const command = [
    'lesson',
    'learners',
    draft.lessonId,
    '--out',
    await temporaryFolder(),
    '--format',
    'answers',
  ];
  expect(await errorOf(...command)).toContain('name the version of the questions with --version');
  expect((await run(...command, '--version', '1')).code).toBe(0);
});

test('learner export writes a ZIP for the learner, and the audit log has it', async () => {
  const { organization } = await buildOrganization(harness);
  const { path } = (await json(
    'learner',
    'export',
    'ann',
    '--org',
    organization.slug,
    '--out',
    await temporaryFolder(),
  )) as {
    path: string;
  };
  expect(String((await filesOf(await readFile(path))).get('README.txt'))).toContain(organization.name);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  const entries = await json('audit', 'list', '--org', organization.slug, '--learner', 'ann');
  expect(entries).toMatchObject([{ action: 'learner.export', actor: { type: 'operator' } }]);
});
