import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import type { Fault, Service } from '../../simulator/faults.ts';
import { eventDefinitions } from '../../shared/events/event-types.ts';
import { gradeScopes } from '../../shared/lti/claims.ts';
import { claimScore, recordRetry, retryScores } from '../../shared/models/lti-score-changes.ts';
import type { ClaimedScore } from '../../shared/models/lti-score-changes.ts';
import { insertWebhook } from '../../shared/models/webhook.ts';
import { completed, useScoreLab } from './support/score-lab.ts';
import type { GradedLearner } from './support/score-lab.ts';

/* Faults of a platform: temporary ones are retried, permanent ones fail. */

const lab = useScoreLab(() => [], {}, { timeoutMs: 2_000 });

const accepted = { afterwards: true };
const throttled = { status: 403, body: '403 Forbidden (Rate Limit Exceeded)' };
const asJson = { 'content-type': 'application/json' };
const asPage = { 'content-type': 'text/html' };
const passing: [title: string, service: Service, fault: Fault, reason: string][] = [
  ...[302, 408, 425, 429].map((status): [string, Service, Fault, string] => [
    `scores get ${status}`,
    'scores',
    { status },
    'unavailable',
  ]),
  ["scores are throttled in Canvas's format", 'scores', throttled, 'unavailable'],
  ['the platform has a later timestamp', 'scores', { status: 409 }, 'conflict'],
  ['a score is accepted, and the connection reset', 'scores', { drop: true, ...accepted }, 'network'],
  ['a score is accepted, and gets 500', 'scores', { status: 500, ...accepted }, 'unavailable'],
  ['a score is accepted, and gets no response', 'scores', { hang: true, ...accepted }, 'timeout'],
  ['token requests get 302', 'token', { status: 302 }, 'unavailable'],
  ['token requests are rejected', 'token', { status: 400 }, 'token_refused'],
  ['token requests get a page', 'token', { status: 200, body: '<h1>Soon</h1>' }, 'web_page'],
  ['token requests get something else', 'token', { status: 200, body: '{}' }, 'token_refused'],
  ['scores get a page', 'scores', { status: 200, body: ' <!doctype html><h1>Log in</h1>' }, 'web_page'],
  ['scores get a page as JSON', 'scores', { status: 200, body: '<p>', headers: asJson }, 'web_page'],
  ['scores get text as a page', 'scores', { status: 201, body: 'Hello', headers: asPage }, 'web_page'],
];

test.each(passing)('%s: the score waits, and is sent afterwards', async (_title, service, fault, reason) => {
  const learner = await lab.addLearner();
  await lab.tell(learner, completed(10));
  // The score needs a new token.
  if (service === 'token') lab.service.tokens.forget(lab.platform, [gradeScopes.score]);
  lab.simulator.fail(service, fault);
  expect(await lab.send(learner)).toBe(reason);
  const row = await lab.rowOf(learner);
  const failure = { reason, status: fault.status ?? null };
  expect(row).toMatchObject({ state: 'waiting', tries: 1, failure });
  expect(row.nextTryAt.getTime()).toBeGreaterThan((row.lastTimestamp?.getTime() ?? Infinity) + 900);

  await lab.tell(learner, completed(20));
  expect(await lab.send(learner)).toBe('sent');
  const taken = lab.taken(learner);
  expect(taken.map(({ scoreGiven }) => scoreGiven)).toEqual(fault.afterwards ? [10, 20] : [20]);
  const times = taken.map(({ timestamp }) => Date.parse(timestamp));
  expect(times).toEqual([...new Set(times)].toSorted((one, other) => one - other));
});

test.each<[title: string, fault: Fault]>([
  ['nothing', { status: 204 }],
  ['nothing, as a page', { status: 200, body: ' ', headers: asPage }],
  ['JSON', { status: 200, body: '{"resultUrl":"https://platform.test/1"}', headers: asJson }],
  ['JSON, as a page', { status: 200, body: '{"resultUrl":"https://platform.test/1"}', headers: asPage }],
  ['plain text', { status: 200, body: 'OK', headers: { 'content-type': 'text/plain' } }],
  ['text without a type', { status: 200, body: 'OK' }],
])('a platform may answer a score with %s', async (_title, fault) => {
  const learner = await lab.addLearner();
  await lab.tell(learner, completed(10));
  lab.simulator.fail('scores', { ...fault, ...accepted });
  expect(await lab.send(learner)).toBe('sent');
});

test.each([400, 403, 422])('after %i, a score is not retried; its row keeps the response', async (status) => {
  const learner = await lab.addLearner();
  await lab.tell(learner, completed(10));
  lab.simulator.fail('scores', { status, body: `why ${'x'.repeat(5000)}` });
  expect(await lab.send(learner)).toBe('refused');
  const row = await lab.rowOf(learner);
  expect(row).toMatchObject({ state: 'failed', failure: { reason: 'refused', status } });
  expect(row.failure?.body).toHaveLength(4096);
  expect(await lab.send(learner)).toBeNull();
});

test('a score that fails is an event for webhooks', async () => {
  const { db } = lab.harness;
  const learner = await lab.addLearner();
  const { organizationId, ltiUserId: learnerId } = learner.learner;
  const settings = {
    url: 'https://receiver.invalid/',
    types: ['lti.grade.failed' as const],
    description: '',
  };
  await insertWebhook(db, { _id: randomUUID(), organizationId, ...settings, secret: 'sealed' });
  await lab.tell(learner, completed(10));
  lab.simulator.fail('scores', { status: 400 });
  expect(await lab.send(learner)).toBe('refused');
  const { _id: scoreId } = await lab.rowOf(learner);
  const { body } = await db.eventDeliveries.findOne({ type: 'lti.grade.failed', learnerId }).lean().orFail();
  const { data } = JSON.parse(body) as { data: object };
  expect(eventDefinitions['lti.grade.failed'].data.parse(data)).toMatchObject({
    ...{ scoreId, ltiUserId: learnerId, reason: 'refused', httpStatus: 400 },
  });
});

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

/* The retry budget of a score that a platform does not accept. */

const day = 24 * 3600_000;

/** Sets a row's first failure, and the first for its last reason, to this long ago. */
async function age(learner: GradedLearner, milliseconds: number): Promise<void> {
  const since = new Date(Date.now() - milliseconds);
  const { _id } = await lab.rowOf(learner);
  await lab.harness.db.ltiScores.updateOne(
    { _id, failure: { $ne: null } },
    { $set: { failingSince: since, 'failure.since': since } },
  );
}

/** Makes the next request fail, then attempts to send the score. */
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
] as const)('%s: scores fail only after the retry budget', async (_, fault, service, before, after) => {
  const learner = await lab.addLearner();
  await lab.tell(learner, completed(10));
  expect(await fail(learner, service, fault)).toMatchObject({ state: 'waiting' });
  await age(learner, before);
  expect(await fail(learner, service, fault)).toMatchObject({ state: 'waiting' });
  await age(learner, after);
  expect(await fail(learner, service, fault)).toMatchObject({ state: 'failed' });
});

test.each([
  ['a rejected token', 'token', { status: 400 }, 'token_refused'],
  ['unreadable line items', 'lineitems', { status: 200, body: '{}' }, 'unreadable_answer'],
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
  expect(await failTemporarily(claimed)).toMatchObject({ state: 'waiting', wanted: { scoreGiven: 20 } });
});

async function claim(learner: GradedLearner): Promise<ClaimedScore> {
  await lab.passTime();
  const claimed = await claimScore(lab.harness.db, { _id: (await lab.rowOf(learner))._id });
  if (claimed === null) throw new Error('the row is not due');
  return claimed;
}

/** Ends an attempt with a temporary fault. */
function failTemporarily(claimed: ClaimedScore) {
  return recordRetry(lab.harness.db, claimed, {
    failure: { at: new Date(), reason: 'unavailable', status: 503, body: '' },
    delayMs: 1000,
    maxFailingMs: { inAll: 7 * day, sameReason: 7 * day },
  });
}
