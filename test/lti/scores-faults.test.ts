import { expect, test } from 'vitest';
import type { Fault, Service } from '../../simulator/faults.ts';
import { gradeScopes } from '../../shared/lti/claims.ts';
import { sendAgain } from '../../shared/models/lti-score-changes.ts';
import { completed, useScoreLab } from './support/score-lab.ts';

/* What a platform may do instead of taking a score: what passes is tried again, what does not is seen to. */

const lab = useScoreLab();

interface Case {
  title: string;
  service: Service;
  fault: Fault;
  reason: string;
  status?: number;
}

const passing: Case[] = [
  ...[301, 302, 307, 408, 425, 429, 500, 502, 503].map((status) => ({
    title: `scores are answered with ${status}`,
    service: 'scores' as const,
    fault: { status },
    reason: 'unavailable',
    status,
  })),
  {
    title: 'scores are throttled as Canvas does it',
    service: 'scores',
    fault: { status: 403, body: '403 Forbidden (Rate Limit Exceeded)' },
    reason: 'unavailable',
    status: 403,
  },
  {
    title: 'a timestamp is not new enough for the platform',
    service: 'scores',
    fault: { status: 409 },
    reason: 'conflict',
    status: 409,
  },
  { title: 'the connection is reset', service: 'scores', fault: { drop: true }, reason: 'network' },
  {
    title: 'the connection is reset after the score was taken',
    service: 'scores',
    fault: { drop: true, afterwards: true },
    reason: 'network',
  },
  {
    title: 'a score is taken and answered with 500',
    service: 'scores',
    fault: { status: 500, afterwards: true },
    reason: 'unavailable',
    status: 500,
  },
  ...[302, 503].map((status) => ({
    title: `tokens are answered with ${status}`,
    service: 'token' as const,
    fault: { status },
    reason: 'unavailable',
    status,
  })),
  { title: 'tokens are reset', service: 'token', fault: { drop: true }, reason: 'network' },
  {
    title: 'tokens are refused',
    service: 'token',
    fault: { status: 400 },
    reason: 'token_refused',
    status: 400,
  },
  {
    title: 'tokens are forbidden',
    service: 'token',
    fault: { status: 403 },
    reason: 'token_refused',
    status: 403,
  },
  {
    title: 'tokens are answered with a page of maintenance',
    service: 'token',
    fault: { status: 200, body: '<h1>Back soon</h1>' },
    reason: 'token_refused',
    status: 200,
  },
];

test.each(passing)('$title: the score waits, and is sent when that has passed', async (given) => {
  const learner = await lab.addLearner();
  await lab.tell(learner, completed(10));
  if (given.service === 'token') forgetTokens();
  lab.simulator.fail(given.service, given.fault);
  expect(await lab.send(learner)).toBe(given.reason);
  const { reason, status = null } = given;
  const row = await lab.rowOf(learner);
  expect(row).toMatchObject({ state: 'waiting', tries: 1, failure: { reason, status } });
  expect(row.nextTryAt.getTime()).toBeGreaterThan((row.lastTimestamp?.getTime() ?? Infinity) + 900);

  await lab.tell(learner, completed(20));
  expect(await lab.send(learner)).toBe('sent');
  const taken = lab.taken(learner);
  expect(taken.at(-1)).toMatchObject({ scoreGiven: 20 });
  const times = taken.map(({ timestamp }) => Date.parse(timestamp));
  expect(times).toEqual([...new Set(times)].toSorted((one, other) => one - other));
});

const final = [400, 403, 404, 410, 415, 422].map((status) => ({ status }));

test.each(final)(
  'a score that is refused with $status is not tried again, and the answer is kept',
  async ({ status }) => {
    const learner = await lab.addLearner();
    await lab.tell(learner, completed(10));
    lab.simulator.fail('scores', { status, body: `why ${'x'.repeat(5000)}` });
    expect(await lab.send(learner)).toBe('refused');
    const row = await lab.rowOf(learner);
    expect(row).toMatchObject({ state: 'failed', failure: { reason: 'refused', status } });
    expect(row.failure?.body).toHaveLength(2000);
    expect(await lab.send(learner)).toBeNull();
  },
);

test('a token that is refused also when it is new is a refusal', async () => {
  const learner = await lab.addLearner();
  await lab.tell(learner, completed(10));
  lab.simulator.fail('scores', { status: 401, times: 2 });
  expect(await lab.send(learner)).toBe('refused');
  expect(await lab.rowOf(learner)).toMatchObject({ state: 'failed', failure: { status: 401 } });
});

test('a score that was forbidden is sent with a new token as soon as somebody asks for it', async () => {
  const learner = await lab.addLearner();
  await lab.tell(learner, completed(10));
  lab.simulator.fail('scores', { status: 403, body: 'insufficient scope' });
  expect(await lab.send(learner)).toBe('refused');
  const tokens = () => lab.simulator.requests.filter(({ path }) => path.includes('/token')).length;
  const before = tokens();
  await sendAgain(lab.harness.db, [(await lab.rowOf(learner))._id]);
  expect(await lab.send(learner)).toBe('sent');
  expect(tokens()).toBe(before + 1);
});

test('a platform that asks for patience gets it', async () => {
  const learner = await lab.addLearner();
  await lab.tell(learner, completed(10));
  lab.simulator.fail('scores', { status: 429, headers: { 'retry-after': '600' } });
  await lab.send(learner);
  const { nextTryAt, lastTimestamp } = await lab.rowOf(learner);
  expect(nextTryAt.getTime()).toBeGreaterThanOrEqual((lastTimestamp?.getTime() ?? Infinity) + 599_000);
});

/** Has the next score need a new token. */
function forgetTokens(): void {
  lab.service.tokens.forget(lab.platform, [gradeScopes.score]);
}
