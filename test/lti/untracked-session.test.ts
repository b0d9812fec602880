import { afterAll, beforeAll, expect, test } from 'vitest';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { buildLaunchToken, buildOrganization } from '../support/factories.ts';
import { startHarness } from '../support/harness.ts';
import type { Harness } from '../support/harness.ts';
import { expectError } from '../support/answers.ts';
import { Player, publishLesson } from '../player/player-lessons.ts';

let harness: Harness;
let version: LessonVersion;
let teacher: Player;
let nobody: Player;

beforeAll(async () => {
  harness = await startHarness();
  const address = await harness.startApi();
  const { organization } = await buildOrganization(harness);
  version = await publishLesson(harness, organization);
  const player = (token: string) => new Player(address, version, token);
  teacher = player(buildLaunchToken(version, { ltiUserId: 'teacher', untracked: 'preview' }));
  nobody = player(buildLaunchToken(version, { ltiUserId: '', untracked: 'anonymous' }));
});
afterAll(() => harness.close());

test('a teacher and an anonymous learner begin at the first step, whatever they did before', async () => {
  for (const player of [teacher, nobody]) {
    await player.write({ items: [{ widgetId: 'q2', answer: ['b'] }] });
    expect(await player.read()).toMatchObject({
      revision: 0,
      status: 'not_started',
      items: null,
      courseId: '00000000-0000-0000-0000-000000000000',
    });
  }
});

test("a write returns the state that it alone leads to, whatever the player's revision", async () => {
  const write = {
    revision: 7,
    currentSectionIndex: 1,
    items: [{ widgetId: 'q2', answer: ['b'], score: 900, maxScore: 900 }],
    completed: true,
  };
  expect(await teacher.write(write)).toMatchObject({
    revision: 8,
    status: 'completed',
    items: [{ widgetId: 'q2', score: 2, maxScore: 2 }],
    score: 66.6667,
    maxScore: 100,
  });
});

test('a write that does not fit the lesson is rejected like any other', async () => {
  const refused = await nobody.tell({ items: [{ widgetId: 'unknown', answer: 1 }] });
  expectError(refused, 422, 'items[0].widgetId "unknown" is no widget of the version');
  const outside = await nobody.tell({ currentStepIndex: 9 });
  expectError(outside, 422, 'currentStepIndex must be between 0 and 1, not 9');
});

test('neither a record nor a course is stored', async () => {
  await teacher.read();
  await teacher.write({ currentStepIndex: 1 });
  await nobody.write({ currentStepIndex: 1 });
  const { ltiProgress, embedProgress, courses } = harness.db;
  const counts = [ltiProgress, embedProgress, courses].map((model) => model.countDocuments());
  expect(await Promise.all(counts)).toEqual([0, 0, 0]);
});
