import { expect, test } from 'vitest';
import { registerLineItem } from '../../shared/lti/scores/register-line-item.ts';
import { removePlatform } from '../../shared/models/lti-platform.ts';
import { retryScores } from '../../shared/models/lti-score-changes.ts';
import { waitFor } from '../support/wait-for.ts';
import { completed, useScoreLab } from './support/score-lab.ts';
import type { GradedLearner } from './support/score-lab.ts';

/* One attempt to send a row and its outcome; the platform is healthy unless a test says otherwise. */

const lab = useScoreLab();

const requests = (path: string) => lab.simulator.requests.filter((request) => request.path.includes(path));

test("a score has the standard's format and its own timestamp", async () => {
  const learner = await lab.addLearner();
  await lab.tell(learner, completed(2, 3));
  expect(await lab.send(learner)).toBe('sent');
  const request = requests('/scores').at(-1);
  expect(request?.headers['content-type']).toBe('application/vnd.ims.lis.v1.score+json');
  const row = await lab.rowOf(learner);
  expect(JSON.parse(request?.body ?? '')).toEqual({
    userId: learner.learner.ltiUserId,
    timestamp: row.sent?.timestamp.toISOString(),
    activityProgress: 'Completed',
    gradingProgress: 'FullyGraded',
    scoreGiven: 66.6667,
    scoreMaximum: 100,
  });
  expect(row).toMatchObject({ state: 'idle', tries: 0, failure: null, leaseUntil: null });
  expect(row.sent).toMatchObject({ scoreGiven: 66.6667, response: { status: 200 } });
  expect(row.sent?.response.body).toContain('resultUrl');
});

test('a score that changes while it is sent is sent again, with a later timestamp', async () => {
  const learner = await lab.addLearner();
  await lab.tell(learner, completed(10));
  const before = requests('/scores').length;
  lab.simulator.fail('scores', { delayMs: 300 });
  const sending = lab.send(learner);
  await waitFor('the request', async () => (await lab.rowOf(learner)).leaseId);
  await lab.tell(learner, completed(20));
  expect(await sending).toBe('sent');
  expect(await lab.rowOf(learner)).toMatchObject({ state: 'waiting', sent: { scoreGiven: 10 } });
  expect(await lab.send(learner)).toBe('sent');
  expect(requests('/scores')).toHaveLength(before + 2);
  const [first, second] = lab.taken(learner);
  expect([first?.scoreGiven, second?.scoreGiven]).toEqual([10, 20]);
  expect(Date.parse(second?.timestamp ?? '')).toBeGreaterThan(Date.parse(first?.timestamp ?? ''));
});

test('a token is reused until the platform rejects it, and then fetched once', async () => {
  const learner = await lab.addLearner();
  await lab.tell(learner, completed(10));
  await lab.send(learner);
  const before = requests('/token').length;
  await lab.tell(learner, completed(20));
  await lab.send(learner);
  expect(requests('/token')).toHaveLength(before);
  lab.simulator.revokeTokens();
  await lab.tell(learner, completed(30));
  expect(await lab.send(learner)).toBe('sent');
  expect(requests('/token')).toHaveLength(before + 1);
});

test('a removed platform has no waiting or failed scores, and its learners keep their progress', async () => {
  const { db } = lab.harness;
  const { platform } = await lab.register(lab.address, { deploymentIds: ['another'] });
  const move = async (learner: GradedLearner): Promise<GradedLearner> => {
    const { _id } = await lab.rowOf(learner);
    await db.ltiScores.updateOne({ _id }, { $set: { platformId: platform._id } });
    return { ...learner, learner: { ...learner.learner, platformId: platform._id } };
  };
  const failed = await move(await lab.addLearner());
  const waiting = await move(await lab.addLearner());
  for (const learner of [failed, waiting]) await lab.tell(learner, completed(10));
  lab.simulator.fail('scores', { status: 400 });
  expect(await lab.send(failed)).toBe('refused');
  await removePlatform(db, platform._id);
  const idle = { state: 'idle', tries: 0, failure: null, wanted: { scoreGiven: 10 } };
  for (const learner of [failed, waiting]) expect(await lab.rowOf(learner)).toMatchObject(idle);

  // For a lesson that was still open.
  await lab.tell(waiting, completed(20));
  expect(await lab.send(waiting)).toBe('platform_removed');
  expect(await lab.rowOf(waiting)).toMatchObject({ ...idle, wanted: { scoreGiven: 20 } });
});

test('a failed score is sent again with the next score, with the next launch, and when a retry is requested', async () => {
  const { simulator, harness } = lab;
  const learner = await lab.addLearner();
  const fail = async () => {
    simulator.fail('scores', { status: 400, body: 'not gradable' });
    expect(await lab.send(learner)).toBe('refused');
    expect(await lab.rowOf(learner)).toMatchObject({
      state: 'failed',
      failure: { status: 400, body: 'not gradable', reason: 'refused' },
    });
    expect(await lab.send(learner)).toBeNull();
  };
  await lab.tell(learner, completed(10));
  await fail();
  await lab.tell(learner, completed(10));
  expect(await lab.rowOf(learner)).toMatchObject({ state: 'failed' });
  await lab.tell(learner, completed(20));
  await fail();
  await registerLineItem(harness.db, learner.resourceLink, learner.learner.ltiUserId);
  await fail();
  expect(await retryScores(harness.db, [(await lab.rowOf(learner))._id])).toBe(1);
  expect(await lab.send(learner)).toBe('sent');
  expect(lab.taken(learner)).toMatchObject([{ scoreGiven: 20 }]);
});
