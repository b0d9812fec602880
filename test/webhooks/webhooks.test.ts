import { randomUUID } from 'node:crypto';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { Webhook as SvixWebhook } from 'svix';
import { beforeEach, expect, test } from 'vitest';
import { eventDefinitions } from '../../shared/events/event-types.ts';
import type { EventType } from '../../shared/events/event-types.ts';
import { publishErasure } from '../../shared/outgoing/publish-events.ts';
import { unpublish } from '../../shared/publishing/publishing.ts';
import { testWebhook } from '../../shared/webhooks/manage.ts';
import { deriveWebhookSecret, sealWebhookSecret } from '../../shared/webhooks/secrets.ts';
import { Player, publishLesson, useLesson } from '../player/player-lessons.ts';
import { ask, expectError } from '../support/answers.ts';
import { buildLaunchToken, buildLearnerToken, buildOrganization, exportPath } from '../support/factories.ts';
import { answer } from '../support/origin.ts';
import { useApi } from '../support/use.ts';
import { waitFor } from '../support/wait-for.ts';
import { useReceiver } from './receiver.ts';
import type { ReceivedEvent } from './receiver.ts';
import { Webhooks } from './webhooks-client.ts';

/* From a learner's write to an integrator's server, by the API and a worker. */

const receiver = useReceiver();
const api = useApi({}, { worker: true });
const version = useLesson(api);
let webhooks: Webhooks;

beforeEach(async () => {
  webhooks = new Webhooks(api);
  const { webhooks: existing } = (await webhooks.expect(200, 'GET')) as { webhooks: { id: string }[] };
  for (const { id } of existing) await webhooks.expect(204, 'DELETE', `/${id}`);
});

/** Opens the lesson as a new learner. */
function openLesson(learnerId: string = randomUUID()): Player {
  return new Player(api.url, version, buildLearnerToken(version, { learnerId }));
}

const lastStep = { currentSectionIndex: 1, currentStepIndex: 0 };
const rightAnswer = { ...lastStep, items: [{ widgetId: 'q3', answer: ['b'] }] };

/** Returns whether a body's data fit the published schema. */
function fits({ body: { type, data } }: ReceivedEvent): boolean {
  return eventDefinitions[type as EventType].data.safeParse(data).success;
}

test('a learner starts, scores and completes a lesson: each event arrives once, thin, with its revision', async () => {
  const path = `/${randomUUID()}`;
  const types = ['progress.started', 'progress.scored', 'progress.completed'];
  const { id } = await webhooks.create(receiver.url(path), types);
  const learnerId = randomUUID();
  const player = openLesson(learnerId);
  await player.write();
  await player.write({ ...rightAnswer });
  await player.write({ ...lastStep, completed: true });
  await waitFor('three events', () => receiver.received.filter((one) => one.path === path).length === 3);
  const events = receiver.received.filter((one) => one.path === path);
  expect(events.every(fits)).toBe(true);
  const common = {
    ...{ source: 'embed', organizationId: api.organization._id, learnerId },
    ...{ lessonId: version.lessonId, versionId: version._id, attempt: 1, maxScore: 3 },
  };
  const found = Object.fromEntries(events.map(({ body }) => [body.type, body.data]));
  expect(found).toEqual({
    'progress.started': { ...common, revision: 2, status: 'in_progress', score: 1, completedAt: null },
    'progress.scored': { ...common, revision: 2, status: 'in_progress', score: 1, completedAt: null },
    'progress.completed': {
      ...{ ...common, revision: 3, status: 'completed', score: 1 },
      completedAt: expect.any(String) as string,
    },
  });
  await waitFor('the record of all', async () =>
    (await webhooks.deliveries(id)).every(({ status }) => status === 'delivered'),
  );
  const listed = await webhooks.deliveries(id, '?status=delivered');
  expect(listed.find(({ type }) => type === 'progress.completed')).toEqual({
    id: events.find(({ body }) => body.type === 'progress.completed')?.headers['webhook-id'],
    ...{ type: 'progress.completed', status: 'delivered' },
    attempts: [
      {
        at: expect.any(String) as string,
        milliseconds: expect.any(Number) as number,
        ...{ status: 204, error: null, response: '' },
      },
    ],
  });
});

test('an LTI launch sends its user, and points out of 100', async () => {
  await webhooks.create(receiver.url('/lti'), ['progress.scored']);
  const ltiUserId = randomUUID();
  const player = new Player(api.url, version, buildLaunchToken(version, { ltiUserId }));
  await player.write({ ...rightAnswer });
  const event = await waitFor('the score', () => receiver.of('progress.scored', '/lti')[0]);
  expect(event.body.data).toMatchObject({ source: 'lti', ltiUserId, score: 33.3333, maxScore: 100 });
  expect(fits(event)).toBe(true);
});

test('updates of one learner are sent at once, then at most once a minute, with the last state', async () => {
  const { id } = await webhooks.create(receiver.url('/updates'), ['progress.updated']);
  const learnerId = randomUUID();
  const player = openLesson(learnerId);
  await player.write();
  await waitFor('the first update', () => receiver.of('progress.updated', '/updates').length === 1);
  for (let revision = 1; revision < 4; revision += 1) await player.write({ ...lastStep });
  const record = { learnerId, lessonId: version.lessonId };
  const rows = await api.db.eventDeliveries.find({ learnerId }).sort({ createdAt: 1 }).lean();
  expect(rows.map(({ kind, targetId }) => [kind, targetId])).toEqual([
    ['webhook', id],
    ['update', api.organization._id],
  ]);
  const [first, second] = rows;
  expect((second?.nextTryAt.getTime() ?? 0) - (first?.eventAt.getTime() ?? 0)).toBeGreaterThanOrEqual(60_000);
  // A minute later:
  const now = new Date();
  await api.db.embedProgress.updateOne(record, { $set: { updateDueAt: now } });
  await api.db.eventDeliveries.updateOne({ learnerId, state: 'waiting' }, { $set: { nextTryAt: now } });
  await waitFor('the second update', () => receiver.of('progress.updated', '/updates').length === 2);
  expect(receiver.of('progress.updated', '/updates').map(({ body }) => body.data.revision)).toEqual([1, 4]);
});

test('publishing and unpublishing a version are events', async () => {
  await webhooks.create(receiver.url('/lessons'), ['lesson.published', 'lesson.unpublished']);
  const { _id: versionId, lessonId } = await publishLesson(api, api.organization);
  await unpublish(api.db, lessonId);
  const event = await waitFor('the end', () => receiver.of('lesson.unpublished', '/lessons')[0]);
  expect(receiver.of('lesson.published', '/lessons')).toHaveLength(1);
  expect(event.body.data).toEqual({
    organizationId: api.organization._id,
    lessonId,
    versionId,
    versionNumber: 1,
  });
});

test('an archive that is built is an event, once', async () => {
  await webhooks.create(receiver.url('/exports'), ['export.ready', 'export.failed']);
  const { status } = await ask(api.url + exportPath(version), { headers: api.headers });
  expect(status).toBe(200);
  const event = await waitFor('the event', () => receiver.of('export.ready', '/exports')[0]);
  // The lesson's Dial has no release.
  expect(fits(event)).toBe(true);
  expect(event.body.data).toMatchObject({ versionId: version._id, profile: 'plain', failures: 1 });
  expect(receiver.received.filter(({ path }) => path === '/exports')).toHaveLength(1);
});

test('an erasure is an event, once', async () => {
  const { id } = await webhooks.create(receiver.url('/erased'), ['learner.erased']);
  const data = { source: 'embed' as const, learnerId: 'ada', organizationId: api.organization._id };
  const erasure = { id: randomUUID(), at: new Date() };
  for (let times = 0; times < 2; times += 1) await publishErasure(api.db, erasure, data);
  const event = await waitFor('the event', () => receiver.of('learner.erased', '/erased')[0]);
  expect(event.body.data).toEqual(data);
  expect(await webhooks.deliveries(id)).toHaveLength(1);
});

test('other organizations get nothing', async () => {
  const stranger = await buildOrganization(api);
  await new Webhooks({ ...api, ...stranger }).create(receiver.url('/stranger'), ['progress.updated']);
  await webhooks.create(receiver.url('/own'), ['progress.updated']);
  await openLesson().write();
  await waitFor('the own event', () => receiver.of('progress.updated', '/own').length === 1);
  expect(receiver.of('progress.updated', '/stranger')).toEqual([]);
});

test('standardwebhooks and svix verify deliveries with either secret during a rotation, and reject forged ones', async () => {
  const { id, secret } = await webhooks.create(receiver.url('/signed'), ['progress.started']);
  const rotated = (await webhooks.expect(200, 'POST', `/${id}/rotate`)) as { secret: string };
  await webhooks.expect(202, 'POST', `/${id}/test`);
  const { text, headers } = await waitFor('the ping', () => receiver.of('ping', '/signed')[0]);
  for (const key of [secret, rotated.secret]) {
    expect(new StandardWebhook(key).verify(text, headers)).toEqual(JSON.parse(text));
    expect(new SvixWebhook(key).verify(text, headers)).toEqual(JSON.parse(text));
  }
  const verifier = new StandardWebhook(secret);
  const old = { ...headers, 'webhook-timestamp': String(Math.floor(Date.now() / 1000) - 301) };
  expect(() => verifier.verify(text.replace('ping', 'pong'), headers)).toThrow('signature');
  expect(() => verifier.verify(text, old)).toThrow('too old');
  expect(() => new StandardWebhook(`whsec_${'A'.repeat(43)}=`).verify(text, headers)).toThrow('signature');

  await webhooks.expect(200, 'POST', `/${id}/rotate`, { overlapSeconds: 0 });
  await webhooks.expect(202, 'POST', `/${id}/test`);
  const next = await waitFor('the next ping', () => receiver.of('ping', '/signed')[1]);
  expect(() => new StandardWebhook(rotated.secret).verify(next.text, next.headers)).toThrow('signature');
});

test('after the pepper was lost, a rotated secret signs deliveries at once', async () => {
  const { id } = await webhooks.create(receiver.url('/lost'), ['progress.started']);
  const sealed = sealWebhookSecret(deriveWebhookSecret(id, 'lost'), id, 'a pepper that is lost');
  await api.db.webhooks.updateOne({ _id: id }, { secret: sealed });
  const { secret } = (await webhooks.expect(200, 'POST', `/${id}/rotate`)) as { secret: string };
  await webhooks.expect(202, 'POST', `/${id}/test`);
  const { text, headers } = await waitFor('the ping', () => receiver.of('ping', '/lost')[0]);
  expect(new StandardWebhook(secret).verify(text, headers)).toEqual(JSON.parse(text));
});

test('a delivery is tried again with its id and another time, and can be sent again when it has failed', async () => {
  receiver.script(
    '/flaky',
    answer(503, { 'retry-after': '6' }, 'x'.repeat(5000)),
    answer(400),
    (_request, response) => {
      response.writeHead(200).end('thanks');
    },
  );
  const { id } = await webhooks.create(receiver.url('/flaky'), ['progress.started']);
  await webhooks.expect(202, 'POST', `/${id}/test`);
  await waitFor('the first ping', () => receiver.of('ping', '/flaky').length === 1);
  const failed = await waitFor('the first attempt', async () =>
    (await webhooks.deliveries(id)).find(({ attempts }) => attempts.length === 1),
  );
  expect(failed).toMatchObject({
    status: 'pending',
    attempts: [{ status: 503, error: 'The receiver returned 503' }],
  });
  const row = await api.db.eventDeliveries.findById(failed.id).lean().orFail();
  expect(row.nextTryAt.getTime()).toBeGreaterThanOrEqual((row.attempts[0]?.at.getTime() ?? Infinity) + 6_000);
  // The target is paused in this process; its pause ends.
  await api.db.eventDeliveries.updateOne({ _id: row._id }, { $set: { nextTryAt: new Date(0), tries: 9 } });
  // Asks the receiver, not the API, for these seconds.
  await waitFor('the second ping', () => receiver.of('ping', '/flaky').length === 2);
  await waitFor(
    'the end of the schedule',
    async () => (await webhooks.deliveries(id, '?status=failed')).length === 1,
  );
  const since = new Date(Date.now() - 60_000).toISOString();
  expect(await webhooks.expect(202, 'POST', `/${id}/replay`, { since, status: 'failed' })).toEqual({
    count: 1,
  });
  await waitFor('the third attempt', () => receiver.of('ping', '/flaky').length === 3);
  const ids = receiver.of('ping', '/flaky').map(({ headers }) => headers['webhook-id']);
  expect(new Set(ids)).toEqual(new Set([row._id]));
  const delivered = await waitFor(
    'the success',
    async () => (await webhooks.deliveries(id, '?status=delivered'))[0],
  );
  expect(delivered.attempts.map(({ status, response }) => [status, response])).toEqual([
    [503, 'x'.repeat(256)],
    [400, expect.any(String)],
    [200, 'thanks'],
  ]);
  await webhooks.expect(202, 'POST', `/${id}/deliveries/${row._id}/resend`);
  await waitFor('the fourth attempt', () => receiver.of('ping', '/flaky').length === 4);
});

test('a 410 disables the webhook, the other webhooks get an event, and its owner can enable it again', async () => {
  receiver.script('/gone', answer(410));
  const gone = await webhooks.create(receiver.url('/gone'), ['progress.started']);
  await webhooks.create(receiver.url('/watch'), ['webhook.disabled']);
  await openLesson().write({ ...lastStep });
  const event = await waitFor('the report', () => receiver.of('webhook.disabled', '/watch')[0]);
  expect(event.body.data).toEqual({
    ...{ organizationId: api.organization._id, webhookId: gone.id },
    ...{ url: receiver.url('/gone'), reason: 'gone' },
  });
  expect(await webhooks.expect(200, 'GET', `/${gone.id}`)).toMatchObject({
    status: 'disabled',
    disabledReason: 'gone',
  });
  expect(await webhooks.expect(200, 'PATCH', `/${gone.id}`, { status: 'active' })).toMatchObject({
    status: 'active',
  });
});

test('a webhook that has failed for three days is disabled', async () => {
  receiver.script('/dead', answer(500));
  const { id } = await webhooks.create(receiver.url('/dead'), ['progress.started']);
  const failingSince = new Date(Date.now() - 3 * 24 * 3600_000);
  await api.db.webhooks.updateOne({ _id: id }, { $set: { failingSince } });
  await webhooks.expect(202, 'POST', `/${id}/test`);
  await waitFor('the ping', () => receiver.of('ping', '/dead').length > 0);
  const reasonOf = async () =>
    ((await webhooks.expect(200, 'GET', `/${id}`)) as { disabledReason?: string }).disabledReason;
  await waitFor('the end', async () => (await reasonOf()) === 'failing');
});

test('the secret is shown once, and stored sealed', async () => {
  const { id, secret } = await webhooks.create(receiver.url('/hook'), ['progress.started']);
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  const created = await webhooks.expect(200, 'GET', `/${id}`);
  expect(created).toEqual({
    ...{ id, url: receiver.url('/hook'), events: ['progress.started'], description: '', status: 'active' },
    createdAt: expect.any(String) as string,
  });
  const stored = JSON.stringify(await api.db.webhooks.findById(id).lean());
  expect(stored).not.toContain(secret.slice('whsec_'.length));
});

test.each([
  [{}, 'url is required'],
  [{ url: 'nothing', events: ['progress.started'] }, 'url must be an https URL'],
  [
    { url: 'https://user:pass@example.com', events: ['progress.started'] },
    'url must have no user name and no password',
  ],
  [{ url: 'https://example.com', events: [] }, 'events must be a list of 1 to 12 event types'],
  [{ url: 'https://example.com', events: ['ping'] }, 'events has no type "ping"'],
  [
    { url: 'https://example.com', events: ['progress.started'], secret: 'x' },
    'Request body has an unknown field "secret"',
  ],
])('a webhook %j is rejected: %s', async (body, error) => {
  expectError(await webhooks.send('POST', '', body), 422, error);
});

test('an organization replays deliveries at most 6 times a minute', async () => {
  const theirs = new Webhooks({ ...api, ...(await buildOrganization(api)) });
  const { id } = await theirs.create('https://receiver.invalid/', ['progress.started']);
  const body = { since: '2026-11-21T09:00:00Z' };
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => theirs.send('POST', `/${id}/replay`, body)),
  );
  expect(answers.map(({ status }) => status).toSorted()).toEqual([...Array<number>(6).fill(202), 429, 429]);
});

test('a ping is rejected while too many deliveries of the organization wait', async () => {
  const { organization, ...own } = await buildOrganization(api);
  const { id } = await new Webhooks({ ...api, ...own }).create('https://receiver.invalid/', [
    'progress.started',
  ]);
  const key = { id, organizationId: organization._id };
  await testWebhook(api.db, key, { maxWaiting: 1 });
  await expect(testWebhook(api.db, key, { maxWaiting: 1 })).rejects.toMatchObject({
    ...{ code: 'CONFLICT', message: 'Too many deliveries of the organization wait' },
  });
});

test("another organization's webhook can be neither changed nor deleted", async () => {
  const { id } = await webhooks.create(receiver.url('/hook'), ['progress.started']);
  const stranger = new Webhooks({ ...api, ...(await buildOrganization(api)) });
  const before = await webhooks.expect(200, 'GET', `/${id}`);
  for (const [method, body] of [['DELETE'], ['PATCH', { status: 'disabled' }]] as const) {
    expectError(await stranger.send(method, `/${id}`, body), 404, 'Webhook not found');
  }
  expect(await webhooks.expect(200, 'GET', `/${id}`)).toEqual(before);
  expect(await webhooks.deliveries(id)).toEqual([]);
});

test('an organization has at most 20 webhooks, also with concurrent requests', async () => {
  const own = await buildOrganization(api);
  const theirs = new Webhooks({ ...api, ...own });
  const body = { url: 'https://example.com', events: ['progress.started'] };
  const answers = await Promise.all(Array.from({ length: 23 }, () => theirs.send('POST', '', body)));
  const statuses = answers.map(({ status }) => status);
  expect(statuses.filter((status) => status === 409).length).toBeGreaterThanOrEqual(3);
  expect(await api.db.webhooks.countDocuments({ organizationId: own.organization._id })).toBeLessThanOrEqual(
    20,
  );
});
