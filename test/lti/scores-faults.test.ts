import { expect, test } from 'vitest';
import type { Fault, Service } from '../../simulator/faults.ts';
import { gradeScopes } from '../../shared/lti/claims.ts';
import { retryScores } from '../../shared/models/lti-score-changes.ts';
import { completed, useScoreLab } from './support/score-lab.ts';

/* Faults of a platform: temporary ones are retried, permanent ones fail. */

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
    title: `scores get ${status}`,
    service: 'scores' as const,
    fault: { status },
    reason: 'unavailable',
    status,
  })),
  {
    title: "scores are throttled in Canvas's format",
    service: 'scores',
    fault: { status: 403, body: '403 Forbidden (Rate Limit Exceeded)' },
    reason: 'unavailable',
    status: 403,
  },
  {
    title: 'the platform rejects a timestamp as not new enough',
    service: 'scores',
    fault: { status: 409 },
    reason: 'conflict',
    status: 409,
  },
  { title: 'the connection is reset', service: 'scores', fault: { drop: true }, reason: 'network' },
  {
    title: 'the connection is reset after the platform accepted the score',
    service: 'scores',
    fault: { drop: true, afterwards: true },
    reason: 'network',
  },
  {
    title: 'the platform accepts a score and responds with 500',
    service: 'scores',
    fault: { status: 500, afterwards: true },
    reason: 'unavailable',
    status: 500,
  },
  ...[302, 503].map((status) => ({
    title: `token requests get ${status}`,
    service: 'token' as const,
    fault: { status },
    reason: 'unavailable',
    status,
  })),
  { title: 'token requests are reset', service: 'token', fault: { drop: true }, reason: 'network' },
  {
    title: 'token requests are rejected',
    service: 'token',
    fault: { status: 400 },
    reason: 'token_refused',
    status: 400,
  },
  {
    title: 'token requests are forbidden',
    service: 'token',
    fault: { status: 403 },
    reason: 'token_refused',
    status: 403,
  },
  {
    title: 'token requests get a maintenance page',
    service: 'token',
    fault: { status: 200, body: '<h1>Back soon</h1>' },
    reason: 'token_refused',
    status: 200,
  },
];

test.each(passing)('$title: the score waits, and is sent after recovery', async (given) => {
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
  'a score rejected with $status is not retried, and the outbox keeps the response',
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

test('a new token that is rejected fails the score', async () => {
  const learner = await lab.addLearner();
  await lab.tell(learner, completed(10));
  lab.simulator.fail('scores', { status: 401, times: 2 });
  expect(await lab.send(learner)).toBe('refused');
  expect(await lab.rowOf(learner)).toMatchObject({ state: 'failed', failure: { status: 401 } });
});

test('a forbidden score is sent with a new token as soon as a retry is requested', async () => {
  const learner = await lab.addLearner();
  await lab.tell(learner, completed(10));
  lab.simulator.fail('scores', { status: 403, body: 'insufficient scope' });
  expect(await lab.send(learner)).toBe('refused');
  const tokens = () => lab.simulator.requests.filter(({ path }) => path.includes('/token')).length;
  const before = tokens();
  await retryScores(lab.harness.db, [(await lab.rowOf(learner))._id]);
  expect(await lab.send(learner)).toBe('sent');
  expect(tokens()).toBe(before + 1);
});

test('a platform that sends Retry-After gets that delay', async () => {
  const learner = await lab.addLearner();
  await lab.tell(learner, completed(10));
  lab.simulator.fail('scores', { status: 429, headers: { 'retry-after': '600' } });
  await lab.send(learner);
  const { nextTryAt, lastTimestamp } = await lab.rowOf(learner);
  expect(nextTryAt.getTime()).toBeGreaterThanOrEqual((lastTimestamp?.getTime() ?? Infinity) + 599_000);
});

/** Makes the next score need a new token. */
function forgetTokens(): void {
  lab.service.tokens.forget(lab.platform, [gradeScopes.score]);
}
