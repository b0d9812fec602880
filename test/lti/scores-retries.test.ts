import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import type { Fault, Service } from '../../simulator/faults.ts';
import { gradeScopes } from '../../shared/lti/claims.ts';
import { registerLineItem } from '../../shared/lti/scores/register-line-item.ts';
import { claimScore, recordRetry } from '../../shared/models/lti-score-changes.ts';
import type { ClaimedScore } from '../../shared/models/lti-score-changes.ts';
import { completed, useScoreLab } from './support/score-lab.ts';
import type { GradedLearner } from './support/score-lab.ts';

/* The retry budget of a score that a platform does not accept. */

const lab = useScoreLab();

const day = 24 * 3600_000;

/** Moves a row's first failure back in time by this long; for its last reason, too. */
async function age(learner: GradedLearner, milliseconds: number): Promise<void> {
  const since = new Date(Date.now() - milliseconds);
  const { _id } = await lab.rowOf(learner);
  await lab.harness.db.ltiScores.updateOne(
    { _id, failure: { $ne: null } },
    { $set: { failingSince: since, 'failure.since': since } },
  );
}

/** An attempt that meets a fault. */
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
  ['token requests that are rejected', { status: 400 }, 'token', 14 * 60_000, 15 * 60_000],
] as const)(
  '%s: its scores fail when the retry budget is used up, not before',
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
  ['a rejected token', 'token', { status: 400 }, 'token_refused'],
  ['unreadable line items', 'lineitems', { status: 200, body: '<h1>Soon</h1>' }, 'unreadable_answer'],
] as const)('%s after a long outage gets a new retry budget', async (_, service, fault, reason) => {
  const learner = await lab.addLearner({}, null);
  await lab.tell(learner, completed(10));
  expect(await fail(learner, 'lineitems', { status: 503 })).toMatchObject({ outcome: 'unavailable' });
  await age(learner, day);
  expect(await fail(learner, service, fault)).toEqual({ outcome: reason, state: 'waiting', tries: 2 });
});

test.each([
  ['a platform is down', 'scores', { status: 503 }],
  ['tokens are rejected', 'token', { status: 400 }],
] as const)('%s for long: a later score gets a new retry budget', async (_, service, fault) => {
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

test("a score that arrives during the previous score's last attempt is sent", async () => {
  const learner = await lab.addLearner();
  await lab.tell(learner, completed(10));
  await fail(learner, 'scores', { status: 503 });
  await age(learner, 8 * day);
  const claimed = await claim(learner);
  await lab.tell(learner, completed(20));
  expect(await endInVain(claimed)).toMatchObject({ state: 'waiting', wanted: { scoreGiven: 20 } });
});

test('a row with nothing due is not failed, whatever its last attempt returned', async () => {
  const learner = await lab.addLearner();
  await lab.tell(learner, completed(10));
  await fail(learner, 'scores', { status: 503 });
  const claimed = await claim(learner);
  const link = { ...learner.resourceLink, lessonId: randomUUID() };
  await registerLineItem(lab.harness.db, link, learner.learner.ltiUserId);
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

/** Ends an attempt with a temporary fault. */
function endInVain(claimed: ClaimedScore) {
  return recordRetry(lab.harness.db, claimed, {
    failure: { at: new Date(), reason: 'unavailable', status: 503, body: '' },
    delayMs: 1000,
    maxFailingMs: { inAll: 7 * day, sameReason: 7 * day },
  });
}
