import { randomUUID } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import { buildLearnerToken, buildOrganization } from '../support/factories.ts';
import { startHarness } from '../support/harness.ts';
import { startOwnMongod } from '../support/servers.ts';
import { waitFor } from '../support/wait-for.ts';
import { ask, expectError } from '../support/answers.ts';
import { temporaryFolder } from '../support/folders.ts';

test('without MongoDB each endpoint gets 500 with its own message and a retry time', async () => {
  const dbPath = await temporaryFolder();
  let mongod = await startOwnMongod(dbPath);
  onTestFinished(() => mongod.stop());
  const harness = await startHarness({ MONGODB_URI: mongod.url });
  onTestFinished(() => harness.close());
  const address = await harness.startApi();
  const { organization, headers } = await buildOrganization(harness);
  const lessonId = randomUUID();
  const token = buildLearnerToken({ organizationId: organization._id, lessonId });
  const lesson = `${address}/api/public/lessons/${lessonId}`;
  const sign = () =>
    ask(`${address}/api/public/sign-token`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ lessonId, learnerId: 'learner-1' }),
    });
  expect((await sign()).status).toBe(404);

  mongod.kill();
  await mongod.exited;
  const answers = await Promise.all([
    sign(),
    ask(`${lesson}/progress/learner-1`, { headers }),
    ask(`${lesson}/lti-progress/user-1?platformId=platform-1`, { headers }),
    ask(`${lesson}/player-data?token=${token}`),
    ask(`${lesson}/session?token=${token}`),
  ]);
  const words = [
    'Failed to generate token',
    'Failed to fetch progress data',
    'Failed to fetch progress data',
    'An unexpected error occurred while fetching lesson data',
    'An unexpected error occurred',
  ];
  for (const [index, answer] of answers.entries()) {
    expectError(answer, 500, words[index] ?? '');
    expect(answer.headers.get('retry-after')).toBe('10');
  }
  for (const answer of answers.slice(3)) expect(answer.headers.get('access-control-allow-origin')).toBe('*');

  mongod = await startOwnMongod(dbPath, mongod.port);
  await waitFor('an answer after MongoDB is back', async () => (await sign()).status === 404);
});
