import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { completed, useScoreLab } from '../lti/support/score-lab.ts';
import { lectern, lecternJson } from './command-line.ts';

const lab = useScoreLab();

const run = (...args: string[]) => lecternJson(lab.harness.environment, 'lti', ...args);

test('scores are listed with what is wanted, what was sent and why it was not, and failed ones are sent again', async () => {
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
  const { stdout } = await lectern(lab.harness.environment, 'lti', 'scores', '--failed');
  expect(stdout).toContain('refused 400');

  expect(await run('resend', '--failed')).toMatchObject([{ id: failed._id, state: 'waiting', tries: 0 }]);
  expect(await run('scores', '--failed')).toEqual([]);
  expect(await lab.send(bad)).toBe('sent');
  expect(await run('resend', sent._id, failed._id)).toHaveLength(2);
  expect(await lab.send(good)).toBe('sent');
  expect(lab.taken(good)).toMatchObject([{ scoreGiven: 0 }, { scoreGiven: 0 }]);
}, 60_000);

test('what cannot be sent is said, and nothing is sent', async () => {
  const learner = await lab.addLearner();
  const { _id: idle } = await lab.rowOf(learner);
  const unknown = randomUUID();
  const cases: [string[], number, string][] = [
    [['resend', unknown], 1, `There is no score ${unknown}`],
    [['resend', idle], 1, 'its learner has not finished the lesson'],
    [['resend'], 2, 'say which scores'],
    [['resend', 'one'], 2, 'It must be a UUID'],
  ];
  for (const [args, code, message] of cases) {
    const finished = await lectern(lab.harness.environment, 'lti', ...args);
    expect({ args, code: finished.code }).toEqual({ args, code });
    expect(finished.stderr).toContain(message);
  }
  expect(await lab.rowOf(learner)).toMatchObject({ state: 'idle' });
}, 60_000);
