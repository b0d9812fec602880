import { expect, test } from 'vitest';
import type { Link } from '../../simulator/model.ts';
import { publishDueScores } from '../../shared/lti/scores/publish-to-outbox.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import type { LtiScore } from '../../shared/models/lti-score.ts';
import { Player, playedSections, publishLesson, question, section, step } from '../player/player-lessons.ts';
import type { Session } from '../player/player-lessons.ts';
import { tokenOf, useLaunchLab } from './support/launch-lab.ts';

/* Which scores a learner's attempts put into the outbox. */

const lab = useLaunchLab();
const last = { currentSectionIndex: 1 };
const q2 = { widgetId: 'q2', answer: ['b'] };
const q3 = { widgetId: 'q3', answer: ['b'] };

/**
 * A new learner in front of a lesson; saves their writes in order and returns the score that the
 * gradebook should get.
 */
async function openLesson(version: LessonVersion) {
  const { simulator, harness } = lab;
  const user = simulator.addUser();
  const custom = { lesson_id: version.lessonId };
  const link: Link = lab.addLink({ lineItem: { label: 'A lesson', scoreMaximum: 10 }, custom });
  const token = tokenOf(await lab.launch({ link, user })) ?? '';
  let revision = 0;
  return async (fields: object, played = version): Promise<{ session: Session; grade: number | null }> => {
    const session = await new Player(lab.address, played, token).write({ revision, ...fields });
    ({ revision } = session);
    await publishDueScores(harness.db, new AbortController().signal);
    const row = await harness.db.ltiScores.findOne({ ltiUserId: user.id }).lean<LtiScore>();
    return { session, grade: row?.wanted?.scoreGiven ?? null };
  };
}

test('a learner who starts over keeps the grade until the next finish, while integrators read the new attempt', async () => {
  const write = await openLesson(lab.version);
  expect(await write({ ...last, items: [q2, q3] })).toMatchObject({ grade: null });
  expect(await write({ ...last, completed: true })).toMatchObject({ grade: 100 });
  expect(await write({ restart: true })).toMatchObject({
    session: { status: 'completed', score: null },
    grade: 100,
  });
  expect(await write({ ...last, items: [q3] })).toMatchObject({ session: { score: 33.3333 }, grade: 100 });
  expect(await write({ ...last, completed: true })).toMatchObject({ grade: 33.3333 });
  expect(await write({ ...last, items: [q2] })).toMatchObject({ grade: 100 });
});

test('restarting a lesson that has only custom widgets does not give full marks', async () => {
  const sections = [section('one', step('s1', { type: 'Dial', props: { id: 'dial', points: 10 } }))];
  const write = await openLesson(await publishLesson(lab.harness, lab.organization, { sections }));
  const items = [{ widgetId: 'dial', answer: 4, score: 4, maxScore: 10 }];
  expect(await write({ items, completed: true })).toMatchObject({ grade: 40 });
  expect(await write({ restart: true })).toMatchObject({ session: { score: null }, grade: 40 });
});

test('a question added in a new version does not lower the grade of a learner who has finished', async () => {
  const first = await publishLesson(lab.harness, lab.organization);
  const write = await openLesson(first);
  expect(await write({ ...last, items: [q2, q3], completed: true })).toMatchObject({ grade: 100 });
  const more = section('three', step('s4', question('q4', 3)));
  const next = await publishLesson(lab.harness, lab.organization, {
    lessonId: first.lessonId,
    sections: [...playedSections(), { ...more, order_index: 2 }],
  });
  expect(await write(last, next)).toMatchObject({ session: { score: 50, maxScore: 100 }, grade: 100 });
});
