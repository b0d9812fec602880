import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { completed, useScoreLab } from '../lti/support/score-lab.ts';
import type { GradedLearner } from '../lti/support/score-lab.ts';
import { errorIn, lecternHere, lecternJson } from './command-line.ts';

const lab = useScoreLab();

const run = (...args: string[]) => lecternJson(lab.harness.environment, 'lti', ...args);

test('scores are listed with their wanted and sent values and the error, and failed ones can be retried', async () => {
  const [good, bad] = [await lab.addLearner(), await lab.addLearner()];
  await lab.tell(good, completed(0));
  await lab.send(good);
  await lab.tell(bad, completed(50));
  lab.simulator.fail('scores', { status: 400, body: 'not gradable' });
  await lab.send(bad);
  const [sent, failed] = [await lab.rowOf(good), await lab.rowOf(bad)];

  expect(await run('scores', '--org', lab.organization.slug)).toMatchObject([
    { id: failed._id, state: 'failed', ltiUserId: bad.learner.ltiUserId, sent: null, tries: 1 },
    { id: sent._id, state: 'idle', sent: { scoreGiven: 0, response: { status: 200 } }, failure: null },
  ]);
  const failure = { reason: 'refused', status: 400, body: 'not gradable' };
  expect(await run('scores', '--failed')).toMatchObject([{ id: failed._id, failure }]);
  const { stdout } = await lecternHere(lab.harness.environment, 'lti', 'scores', '--failed');
  expect(stdout).toContain('refused 400');

  expect(await run('resend', '--failed')).toMatchObject([{ id: failed._id, state: 'waiting', tries: 0 }]);
  expect(await run('scores', '--failed')).toEqual([]);
  expect(await lab.send(bad)).toBe('sent');
  expect(await run('resend', sent._id, failed._id)).toHaveLength(2);
  expect(await lab.send(good)).toBe('sent');
  expect(lab.taken(good)).toMatchObject([{ scoreGiven: 0 }, { scoreGiven: 0 }]);
});

test('failed scores are dismissed by id, platform or organization, until their learners continue', async () => {
  const ids = [];
  const learners = [await lab.addLearner(), await lab.addLearner(), await lab.addLearner()];
  for (const learner of learners) {
    await lab.tell(learner, completed(50));
    lab.simulator.fail('scores', { status: 400 });
    expect(await lab.send(learner)).toBe('refused');
    ids.push((await lab.rowOf(learner))._id);
  }
  const [first = ''] = ids;
  const dismissed = { state: 'idle', tries: 0, failure: null };
  expect(await run('dismiss', first)).toMatchObject([{ id: first, ...dismissed }]);
  const again = await lecternHere(lab.harness.environment, 'lti', 'dismiss', first);
  expect(errorIn(again)).toContain(`Score ${first} has not failed: it is idle.`);

  expect(await run('dismiss', '--failed', '--platform', randomUUID())).toEqual([]);
  expect(await run('scores', '--failed', '--platform', lab.platform._id)).toHaveLength(2);
  const selection = ['--failed', '--platform', lab.platform._id, '--org', lab.organization.slug];
  expect(await run('dismiss', ...selection)).toMatchObject([dismissed, dismissed]);
  expect(await run('scores', '--failed')).toEqual([]);

  const [learner] = learners as [GradedLearner];
  await lab.tell(learner, completed(50));
  expect(await lab.rowOf(learner)).toMatchObject({ state: 'idle' });
  await lab.tell(learner, completed(60));
  expect(await lab.send(learner)).toBe('sent');
});

test('the list of scores is paginated by cursor, and ends', async () => {
  for (let count = 0; count < 3; count += 1) await lab.addLearner();
  // These are created at once, so only their ids order them.
  const createdAt = new Date();
  await lab.harness.db.ltiScores.updateMany({}, { $set: { createdAt } });
  const all = (await run('scores')) as { id: string }[];
  expect(all.length).toBeGreaterThanOrEqual(3);
  const seen: string[] = [];
  let more: string[] = [];
  for (let stderr = 'There are more'; stderr.includes('There are more');) {
    const args = ['lti', 'scores', '--json', '--limit', '2', ...more];
    const page = await lecternHere(lab.harness.environment, ...args);
    seen.push(...(JSON.parse(page.stdout) as { id: string }[]).map(({ id }) => id));
    ({ stderr } = page);
    more = /--before \S+/.exec(stderr)?.[0].split(' ') ?? [];
  }
  expect(seen).toEqual(all.map(({ id }) => id));
});

test('scores that cannot be sent or dismissed are reported and stay unchanged', async () => {
  const learner = await lab.addLearner();
  const { _id: idle } = await lab.rowOf(learner);
  const unknown = randomUUID();
  for (const [args, message] of [
    [['resend', unknown], `There is no score ${unknown}`],
    [['resend', idle], 'its learner has not finished the lesson'],
    [['dismiss', unknown], `There is no score ${unknown}`],
    [['dismiss', idle], 'has not failed'],
    [['scores', '--before', unknown], `There is no score ${unknown}`],
  ] as const) {
    expect(errorIn(await lecternHere(lab.harness.environment, 'lti', ...args))).toContain(message);
  }
  expect(await lab.rowOf(learner)).toMatchObject({ state: 'idle' });
});
