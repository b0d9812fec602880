import { expect, test } from 'vitest';
import { publishDueScores } from '../../shared/lti/scores/publish-to-outbox.ts';
import type { LtiScore } from '../../shared/models/lti-score.ts';
import { Player } from '../player/player-lessons.ts';
import type { Session } from '../player/player-lessons.ts';
import { tokenOf, useLaunchLab } from './support/launch-lab.ts';

/* Which scores a learner's attempts put into the outbox. */

const lab = useLaunchLab();
const last = { currentSectionIndex: 1 };
const q2 = { widgetId: 'q2', answer: ['b'] };
const q3 = { widgetId: 'q3', answer: ['b'] };

/** Opens the lesson as a new learner; saves their writes in order and returns the score that the gradebook should get. */
async function openLesson() {
  const { simulator, harness } = lab;
  const user = simulator.addUser();
  const link = lab.addLink({ lineItem: { label: 'A lesson', scoreMaximum: 10 } });
  const player = new Player(lab.address, lab.version, tokenOf(await lab.launch({ link, user })) ?? '');
  let revision = 0;
  return async (fields: object): Promise<{ session: Session; grade: number | null }> => {
    const session = await player.write({ revision, ...fields });
    ({ revision } = session);
    await publishDueScores(harness.db, new AbortController().signal);
    const row = await harness.db.ltiScores.findOne({ ltiUserId: user.id }).lean<LtiScore>();
    return { session, grade: row?.wanted?.scoreGiven ?? null };
  };
}

test('a learner who starts over keeps the grade until the next finish, while integrators read the new attempt', async () => {
  const write = await openLesson();
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
