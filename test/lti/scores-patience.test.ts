import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import type { Fault, Service } from '../../simulator/faults.ts';
import { gradeScopes } from '../../shared/lti/claims.ts';
import { expectScore } from '../../shared/lti/scores/register-line-item.ts';
import { claimScore, endToTryAgain } from '../../shared/models/lti-score-changes.ts';
import type { ClaimedScore } from '../../shared/models/lti-score-changes.ts';
import { completed, useScoreLab } from './support/score-lab.ts';
import type { GradedLearner } from './support/score-lab.ts';

/* For how long a score is tried that a platform does not take. */

const lab = useScoreLab();

const day = 24 * 3600_000;

/** Has a row have been failing for as long; for its last reason, too. */
async function age(learner: GradedLearner, milliseconds: number): Promise<void> {
  const since = new Date(Date.now() - milliseconds);
  const { _id } = await lab.rowOf(learner);
  await lab.harness.db.ltiScores.updateOne(
    { _id, failure: { $ne: null } },
    { $set: { failingSince: since, 'failure.since': since } },
  );
}

/** A try that meets a fault. */
async function fail(learner: GradedLearner, service: Service, fault: Fault) {
  for (const scope of [gradeScopes.score, gradeScopes.lineItem]) {
    lab.service.tokens.forget(lab.platform, [scope]);
  }
  lab.simulator.fail(service, fault);
  const outcome = await lab.send(learner);
  const { state, tries } = await lab.rowOf(learner);
  return { outcome, state, tries };
}

test.each([
  ['a platform that is down', { status: 503 }, 'scores', 6.9 * day, 7 * day],
  ['tokens that are refused', { status: 400 }, 'token', 14 * 60_000, 15 * 60_000],
] as const)(
  '%s: its scores are given up after a while, not before',
  async (_, fault, service, before, after) => {
    const learner = await lab.addLearner();
    await lab.tell(learner, completed(10));
    expect(await fail(learner, service, fault)).toMatchObject({ state: 'waiting' });
    await age(learner, before);
    expect(await fail(learner, service, fault)).toMatchObject({ state: 'waiting' });
    await age(learner, after);
    expect(await fail(learner, service, fault)).toMatchObject({ state: 'failed' });
  },
);

test.each([
  ['a refusal of tokens', 'token', { status: 400 }, 'token_refused'],
  [
    'line items that cannot be read',
    'lineitems',
    { status: 200, body: '<h1>Soon</h1>' },
    'unreadable_answer',
  ],
] as const)('%s after a long outage: there is a while for that alone', async (_, service, fault, reason) => {
  const learner = await lab.addLearner({}, null);
  await lab.tell(learner, completed(10));
  expect(await fail(learner, 'lineitems', { status: 503 })).toMatchObject({ outcome: 'unavailable' });
  await age(learner, day);
  expect(await fail(learner, service, fault)).toEqual({ outcome: reason, state: 'waiting', tries: 2 });
});

test.each([
  ['a platform is down', 'scores', { status: 503 }],
  ['tokens are refused', 'token', { status: 400 }],
] as const)('%s for long: a score that comes then has a while of its own', async (_, service, fault) => {
  const learner = await lab.addLearner();
  await lab.tell(learner, completed(10));
  await fail(learner, service, fault);
  await age(learner, 8 * day);
  await lab.tell(learner, completed(10));
  await lab.tell(learner, completed(20));
  expect(await fail(learner, service, fault)).toMatchObject({ state: 'waiting', tries: 2 });
  await age(learner, 8 * day);
  expect(await fail(learner, service, fault)).toMatchObject({ state: 'failed' });
});

test('a score that comes during the last try of the one before is tried', async () => {
  const learner = await lab.addLearner();
  await lab.tell(learner, completed(10));
  await fail(learner, 'scores', { status: 503 });
  await age(learner, 8 * day);
  const claimed = await claim(learner);
  await lab.tell(learner, completed(20));
  expect(await endInVain(claimed)).toMatchObject({ state: 'waiting', wanted: { scoreGiven: 20 } });
});

test('a row that has nothing to send any more has not failed, whatever became of its last try', async () => {
  const learner = await lab.addLearner();
  await lab.tell(learner, completed(10));
  await fail(learner, 'scores', { status: 503 });
  const claimed = await claim(learner);
  const link = { ...learner.resourceLink, lessonId: randomUUID() };
  await expectScore(lab.harness.db, link, learner.learner.ltiUserId);
  const idle = { state: 'idle', wanted: null, tries: 0, failingSince: null, failure: null };
  expect(await lab.rowOf(learner)).toMatchObject(idle);
  expect(await endInVain(claimed)).toMatchObject(idle);
});

async function claim(learner: GradedLearner): Promise<ClaimedScore> {
  await lab.passTime();
  const claimed = await claimScore(lab.harness.db, { id: (await lab.rowOf(learner))._id });
  if (claimed === null) throw new Error('the row is not due');
  return claimed;
}

/** Ends a try with what may pass. */
function endInVain(claimed: ClaimedScore) {
  return endToTryAgain(lab.harness.db, claimed, {
    failure: { at: new Date(), reason: 'unavailable', status: 503, body: '' },
    milliseconds: 1000,
    patience: { atAll: 7 * day, sameReason: 7 * day },
  });
}
