import { expect, test } from 'vitest';
import { retryScores } from '../../shared/models/lti-score-changes.ts';
import { waitFor } from '../support/wait-for.ts';
import { completed, useScoreLab } from './support/score-lab.ts';
import type { GradedLearner } from './support/score-lab.ts';

/* A platform that counts submissions, as Canvas does, and allows two. */

const lab = useScoreLab(undefined, { attempts: 2 });

const finished = (score: number, attempt: number) => completed(score, 100, new Date(attempt));
const taken = (learner: GradedLearner) =>
  lab.taken(learner).map(({ scoreGiven, newSubmission }) => [scoreGiven, newSubmission]);

async function send(learner: GradedLearner, score: number, attempt: number) {
  await lab.tell(learner, finished(score, attempt));
  return lab.send(learner);
}

test('each finished attempt is one submission, however often its score changes', async () => {
  const learner = await lab.addLearner();
  for (const score of [10, 20, 30]) expect(await send(learner, score, 1)).toBe('sent');
  for (const score of [5, 50]) expect(await send(learner, score, 2)).toBe('sent');
  expect(taken(learner)).toEqual([
    [10, true],
    [20, false],
    [30, false],
    [5, true],
    [50, false],
  ]);
});

test('an attempt over the limit is rejected, and the earlier grade stays', async () => {
  const learner = await lab.addLearner();
  for (const attempt of [1, 2]) expect(await send(learner, attempt, attempt)).toBe('sent');
  expect(await send(learner, 3, 3)).toBe('refused');
  expect(await lab.rowOf(learner)).toMatchObject({ state: 'failed', failure: { status: 422 } });
  expect(taken(learner).at(-1)).toEqual([2, true]);
});

test('a score whose response was lost is not submitted again where that would exceed the limit', async () => {
  const learner = await lab.addLearner();
  expect(await send(learner, 1, 1)).toBe('sent');
  lab.simulator.fail('scores', { drop: true, afterwards: true });
  expect(await send(learner, 2, 2)).toBe('network');
  expect(await lab.send(learner)).toBe('sent');
  expect(taken(learner)).toEqual([
    [1, true],
    [2, true],
    [2, false],
  ]);
});

test.each([
  ['the worker timed out', 'end'],
  ['the worker died', 'die'],
  ['the platform sent Retry-After in between', 'refuse'],
])('also where %s', async (_what, then) => {
  const { db } = lab.harness;
  const learner = await lab.addLearner();
  expect(await send(learner, 1, 1)).toBe('sent');
  await lab.tell(learner, finished(2, 2));
  await lab.makeDue(learner);
  lab.simulator.fail('scores', { hang: true, afterwards: true });
  const { sender, outcomes } = lab.createSender();
  const { _id } = await lab.rowOf(learner);
  const sending = sender.sendDue();
  await waitFor('the score', () => taken(learner).length === 2);
  // Another sender has the lease, so this sender's result is ignored.
  if (then === 'die') await db.ltiScores.updateOne({ _id }, { leaseId: 'lost', leaseUntil: new Date(0) });
  await sender.close(0);
  await sending;
  expect(outcomes).toEqual(['given_back']);
  if (then === 'refuse') {
    lab.simulator.fail('scores', { status: 429 });
    expect(await lab.send(learner)).toBe('unavailable');
  }
  expect(await lab.send(learner)).toBe('sent');
  expect(taken(learner).at(-1)).toEqual([2, false]);
});

test('a score sent again on request is not a submission', async () => {
  const learner = await lab.addLearner();
  await send(learner, 1, 1);
  await retryScores(lab.harness.db, [(await lab.rowOf(learner))._id]);
  expect(await lab.send(learner)).toBe('sent');
  expect(taken(learner).at(-1)).toEqual([1, false]);
});
