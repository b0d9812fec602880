import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { beforeEach, expect, test } from 'vitest';
import { eventDefinitions } from '../../shared/events/event-types.ts';
import { Player, useLesson } from '../player/player-lessons.ts';
import { ask, expectError, jsonOf } from '../support/answers.ts';
import { buildLaunchToken, buildLearnerToken, buildOrganization } from '../support/factories.ts';
import { useApi } from '../support/use.ts';
import { waitFor } from '../support/wait-for.ts';
import { Webhooks } from '../webhooks/webhooks-client.ts';
import { useLrs } from './lrs.ts';

/* From a learner's write to a learning record store. */

const lrs = useLrs();
const api = useApi({ PUBLIC_URL: 'http://localhost' }, { worker: true });
const version = useLesson(api);

async function send(method: string, path = '', body?: object, headers = api.headers) {
  return ask(`${api.url}/api/xapi-destinations${path}`, {
    method,
    headers: { ...headers, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
}

/** Creates a destination at the LRS; asserts 201. */
async function create(settings: object = {}): Promise<string> {
  const credentials = { endpoint: lrs.url, username: 'lectern', password: lrs.password };
  const answer = await send('POST', '', { ...credentials, ...settings });
  expect(answer.status).toBe(201);
  return (jsonOf(answer) as { id: string }).id;
}

beforeEach(async () => {
  await api.db.xapiDestinations.deleteMany({});
  await api.db.eventDeliveries.deleteMany({ kind: 'xapi' });
  lrs.reset();
});

const lastStep = { currentSectionIndex: 1, currentStepIndex: 0 };
const openLesson = (learnerId: string) =>
  new Player(api.url, version, buildLearnerToken(version, { learnerId }));

/** Starts, answers and completes the lesson. */
async function playThrough(player: Player): Promise<void> {
  await player.write({ progressData: {} });
  await player.write({ ...lastStep, items: [{ widgetId: 'q3', answer: ['b'] }] });
  await player.write({ ...lastStep, completed: true });
}

const played = ['initialized', 'answered', 'progressed', 'completed', 'failed', 'terminated'];

test('a learner plays a lesson: statements are valid in both versions, and say what was answered', async () => {
  await create({ passingScore: 0.8 });
  const learnerId = randomUUID();
  await playThrough(openLesson(learnerId));
  await waitFor('the statements', () => lrs.statements.size === played.length);
  expect([...lrs.faults()]).toEqual([]);
  const statements = [...lrs.statements.values()].filter(({ actor }) => actor.account.name === learnerId);
  const byVerb = new Map(statements.map((one) => [one.verb.display.en, one]));
  expect([...byVerb.keys()].toSorted()).toEqual(played.toSorted());
  const lessonId = `http://localhost/xapi/lessons/${version.lessonId}`;
  expect(byVerb.get('answered')).toMatchObject({
    actor: { account: { homePage: 'http://localhost', name: learnerId } },
    object: {
      id: `${lessonId}/steps/s3/widgets/q3`,
      definition: {
        ...{ interactionType: 'choice', name: { en: '?' } },
        choices: [
          { id: 'a', description: { en: 'a' } },
          { id: 'b', description: { en: 'b' } },
        ],
      },
    },
    result: { response: 'b', success: true, score: { scaled: 1, raw: 1, min: 0, max: 1 } },
    context: { contextActivities: { parent: [{ id: `${lessonId}/steps/s3` }] } },
  });
  expect(byVerb.get('failed')).toMatchObject({
    object: { id: lessonId },
    result: { completion: true, success: false, score: { scaled: 0.3333, raw: 1, max: 3 } },
  });
  expect(lrs.versions).toEqual(new Set(['1.0.3']));
});

test('a platform’s user is named by a pseudonym, and only the chosen verbs are sent', async () => {
  await create({ version: '2.0.0', pseudonyms: true, verbs: ['completed', 'passed'], passingScore: 0.3 });
  const ltiUserId = randomUUID();
  await playThrough(new Player(api.url, version, buildLaunchToken(version, { ltiUserId })));
  await waitFor('the statements', () => lrs.statements.size === 2);
  const [first, second] = [...lrs.statements.values()];
  expect([first?.verb.display.en, second?.verb.display.en].toSorted()).toEqual(['completed', 'passed']);
  expect(first?.actor.account.name).toMatch(/^[0-9a-f]{64}$/);
  expect(first?.actor).toEqual(second?.actor);
  expect(lrs.versions).toEqual(new Set(['2.0.0']));
});

test('a statement that the LRS rejects is found by halving and parked; all others arrive once', async () => {
  const id = await create();
  lrs.rejection = 422;
  lrs.reject = (statement) => statement.verb.display.en === 'progressed';
  await playThrough(openLesson(randomUUID()));
  await waitFor('the others', () => lrs.statements.size === 4);
  const failed = await waitFor('the bad one', () =>
    api.db.eventDeliveries.findOne({ targetId: id, state: 'failed' }).lean(),
  );
  expect(failed).toMatchObject({ type: 'progressed', failure: { status: 422, body: 'a bad statement' } });
  expect(lrs.repeated).toEqual([]);
});

async function waitForPause(id: string, pausedReason: string): Promise<void> {
  await waitFor('the pause', async () => (await api.db.xapiDestinations.findById(id).lean())?.paused);
  expect(jsonOf(await send('GET', `/${id}`))).toMatchObject({ status: 'paused', pausedReason });
}

test('an LRS that rejects every statement pauses the destination; none is parked, and all arrive later', async () => {
  const id = await create();
  lrs.reject = () => true;
  for (let learner = 0; learner < 4; learner += 1) await playThrough(openLesson(randomUUID()));
  await waitForPause(id, '400');
  await waitFor('no statement to be parked', async () => {
    const waiting = await api.db.eventDeliveries.countDocuments({ targetId: id, state: 'waiting' });
    return waiting === 20;
  });
  lrs.reject = () => false;
  expect((await send('PATCH', `/${id}`, { status: 'active' })).status).toBe(200);
  await waitFor('the statements', () => lrs.statements.size === 20);
  const { rejections } = await api.db.xapiDestinations.findById(id).lean().orFail();
  expect(rejections).toBeUndefined();
});

const json = { 'content-type': 'application/json' };
const html = { 'content-type': 'text/html; charset=utf-8' };
const page = '<!doctype html><title>Log in</title>';

test.each<[title: string, impostor: (response: ServerResponse) => void]>([
  ['a web page', (response) => response.writeHead(200, html).end(page)],
  ['a web page that claims to be JSON', (response) => response.writeHead(200, json).end(page)],
  ['a large web page that never ends', (response) => response.writeHead(200, html).write(page.repeat(200))],
  ['nothing, with status 200', (response) => response.writeHead(200).end()],
  ['a JSON object', (response) => response.writeHead(201, json).end('{"ok":true}')],
  ['no ids', (response) => response.writeHead(200, json).end('[]')],
  ['other ids', (response) => response.writeHead(200, json).end(JSON.stringify([randomUUID()]))],
])('a server that returns %s is no LRS: the statement waits, and is retried', async (_title, impostor) => {
  const id = await create({ verbs: ['initialized'] });
  lrs.impostor = impostor;
  await openLesson(randomUUID()).write({ progressData: {} });
  const attempted = await waitFor('the attempt', () =>
    api.db.eventDeliveries
      .findOne({ targetId: id, state: 'waiting', 'attempts.0': { $exists: true } })
      .lean(),
  );
  expect(attempted.failure?.reason).toBe('no_statement_ids');
  expect(jsonOf(await send('GET', `/${id}`))).toMatchObject({ status: 'active' });
  const [attempt] = attempted.attempts;
  expect(attempt?.error).toMatch(/^The LRS returned 20[01], but not what it should return$/);
});

test('a web page for 15 minutes pauses the destination; its statements arrive once the LRS is back', async () => {
  const id = await create();
  lrs.impostor = (response) => response.writeHead(200, html).end(page);
  await playThrough(openLesson(randomUUID()));
  const { eventDeliveries } = api.db;
  await waitFor('the failure', async () => {
    const failed = { targetId: id, 'failure.reason': 'no_statement_ids' };
    const since = new Date(Date.now() - 15 * 60_000);
    const { matchedCount } = await eventDeliveries.collection.updateMany(failed, {
      $set: { 'failure.since': since, nextTryAt: since },
    });
    return matchedCount > 0;
  });
  await waitForPause(id, 'no_statement_ids');
  lrs.impostor = null;
  expect((await send('PATCH', `/${id}`, { status: 'active' })).status).toBe(200);
  await waitFor('the statements', () => lrs.statements.size === 5);
});

test('a test says what is wrong with a destination, also with a paused one, and stores nothing', async () => {
  const id = await create();
  const check = async (about = id) => jsonOf(await send('POST', `/${about}/test`));
  expect((await send('PATCH', `/${id}`, { status: 'paused' })).status).toBe(200);
  expect(await check()).toMatchObject({ result: 'ok', status: 200 });
  lrs.mayRead = false;
  expect(await check()).toMatchObject({ result: 'unsure', status: 403 });
  lrs.impostor = (response) => response.writeHead(200, html).end(page);
  const impostor = 'The server returned 200, but no list of statements: another server is at the URL';
  expect(await check()).toEqual({ result: 'failed', status: 200, message: impostor });
  lrs.impostor = (response) => response.destroy();
  expect(await check()).toMatchObject({ result: 'failed', status: null });
  lrs.impostor = null;
  expect(await check(await create({ password: 'another' }))).toMatchObject({ result: 'failed', status: 401 });
  const elsewhere = await create({ endpoint: `${lrs.url}/api` });
  expect(await check(elsewhere)).toMatchObject({ result: 'failed', status: 404 });
  expect(lrs.statements.size).toBe(0);
  const { headers } = await buildOrganization(api);
  expectError(await send('POST', `/${id}/test`, undefined, headers), 404, 'xAPI destination not found');
  const statuses = await Promise.all(
    Array.from({ length: 7 }, async () => (await send('POST', `/${id}/test`)).status),
  );
  expect(statuses.toSorted()).toEqual([200, 200, 200, 200, 200, 200, 429]);
});

test.each<[title: string, answer: (response: ServerResponse, ids: string[]) => void]>([
  ['204', (response) => response.writeHead(204).end()],
  [
    'ids in gzip',
    (response, ids) =>
      response.writeHead(200, { ...json, 'content-encoding': 'gzip' }).end(gzipSync(JSON.stringify(ids))),
  ],
  [
    'ids that begin after the status',
    (response, ids) => {
      response.writeHead(200, html).write('[\n');
      setTimeout(() => response.end(JSON.stringify(ids).slice(1)), 1_500);
    },
  ],
  [
    'only the ids of statements that it did not have',
    (response, ids) => response.writeHead(200, json).end(JSON.stringify(ids.slice(0, 1))),
  ],
])('an LRS may return %s', async (_title, answer) => {
  const id = await create();
  lrs.answer = answer;
  await playInOneWrite(randomUUID());
  const delivered = { targetId: id, state: 'idle' } as const;
  await waitFor(
    'the deliveries',
    async () => (await api.db.eventDeliveries.countDocuments(delivered)) === allInOrder.length,
  );
  expect(jsonOf(await send('GET', `/${id}`))).toMatchObject({ status: 'active' });
  expect(lrs.repeated).toEqual([]);
});

/** Answers two questions and finishes in one write. */
async function playInOneWrite(learnerId: string): Promise<void> {
  const items = ['q3', 'dial'].map((widgetId) => ({ widgetId, answer: ['b'] }));
  await openLesson(learnerId).write({ ...lastStep, items, completed: true });
}

const allInOrder = ['initialized', 'answered', 'answered', 'progressed', 'completed', 'terminated'];

test('the statements of a write have times in their order, and all arrive once after a failure', async () => {
  const targetId = await create();
  let failures = 2;
  lrs.impostor = (response) => {
    failures -= 1;
    if (failures === 0) lrs.impostor = null;
    response.writeHead(503).end();
  };
  await playInOneWrite(randomUUID());
  const { eventDeliveries } = api.db;
  await waitFor('the statements', async () => {
    await eventDeliveries.updateMany({ targetId, state: 'waiting' }, { nextTryAt: new Date(0) });
    return lrs.statements.size === allInOrder.length;
  });
  const inTime = [...lrs.statements.values()].toSorted((a, b) =>
    String(a.timestamp) < String(b.timestamp) ? -1 : 1,
  );
  expect(inTime.map(({ verb }) => verb.display.en)).toEqual(allInOrder);
  expect(new Set(inTime.map(({ timestamp }) => timestamp)).size).toBe(allInOrder.length);
  expect(lrs.repeated).toEqual([]);
});

test('parked statements are replayed since a time, at most 6 times a minute', async () => {
  const { organization, headers } = await buildOrganization(api);
  const credentials = { endpoint: lrs.url, username: 'lectern', password: lrs.password };
  const created = jsonOf(await send('POST', '', credentials, headers)) as { id: string };
  const rowOf = (name: string, state: 'failed' | 'idle', createdAt: Date) => ({
    ...{ _id: `xst_${randomUUID()}`, kind: 'xapi' as const, organizationId: organization._id, type: name },
    ...{ targetId: created.id, eventAt: createdAt, createdAt, nextTryAt: createdAt, state },
    body: JSON.stringify({ id: name, verb: { display: { en: name } } }),
  });
  const since = new Date();
  await api.db.eventDeliveries.create([
    rowOf('parked', 'failed', since),
    rowOf('delivered', 'idle', since),
    rowOf('older', 'failed', new Date(since.getTime() - 1)),
  ]);
  const replay = (body: object) => send('POST', `/${created.id}/replay`, body, headers);
  const first = await replay({ since: since.toISOString(), status: 'failed' });
  expect([first.status, jsonOf(first)]).toEqual([202, { count: 1 }]);
  await waitFor('the statement', () => lrs.statements.size === 1);
  expect([...lrs.statements.keys()]).toEqual(['parked']);
  const answers = await Promise.all(Array.from({ length: 6 }, () => replay({ since: since.toISOString() })));
  expect(answers.filter(({ status }) => status === 429)).toHaveLength(1);
});

test('activating a destination counts as a replay, and other changes leave retries as they are', async () => {
  const { organization, headers } = await buildOrganization(api);
  const credentials = { endpoint: lrs.url, username: 'lectern', password: lrs.password };
  const { id } = jsonOf(await send('POST', '', credentials, headers)) as { id: string };
  const nextTryAt = new Date(Date.now() + 3_600_000);
  const _id = `xst_${randomUUID()}`;
  await api.db.eventDeliveries.create({
    ...{ _id, kind: 'xapi' as const, organizationId: organization._id, targetId: id, type: 'answered' },
    ...{ eventAt: new Date(), createdAt: new Date(), nextTryAt, state: 'waiting' as const, body: '{}' },
  });
  expect((await send('PATCH', `/${id}`, { passingScore: 0.5 }, headers)).status).toBe(200);
  const row = await api.db.eventDeliveries.findById(_id).lean().orFail();
  expect(row.nextTryAt).toEqual(nextTryAt);
  const activate = () => send('PATCH', `/${id}`, { status: 'active' }, headers);
  const answers = await Promise.all(Array.from({ length: 7 }, activate));
  expect(answers.filter(({ status }) => status === 429)).toHaveLength(1);
});

test('a rejected password pauses the destination, which is an event; with the right one, everything that has waited arrives', async () => {
  const id = await create({ password: 'wrong' });
  await new Webhooks(api).create('https://receiver.invalid/', ['xapi.paused']);
  await playThrough(openLesson(randomUUID()));
  await waitForPause(id, '401');
  expect(lrs.statements.size).toBe(0);
  const { body } = await waitFor('the event', () =>
    api.db.eventDeliveries.findOne({ type: 'xapi.paused' }).lean(),
  );
  const { data } = JSON.parse(body) as { data: object };
  const endpoint = `${lrs.url}/`;
  expect(eventDefinitions['xapi.paused'].data.parse(data)).toEqual({
    ...{ organizationId: api.organization._id, destinationId: id, endpoint, httpStatus: 401 },
  });
  const resumed = await send('PATCH', `/${id}`, { password: lrs.password, status: 'active' });
  expect(resumed.status).toBe(200);
  await waitFor('the statements', () => lrs.statements.size === 5);
});

test.each([
  [{ endpoint: 'https://lrs.example/xapi?key=1' }, 'endpoint must have no query and no fragment'],
  [{ username: 'a:b' }, 'username must have no colon'],
])('a destination with %j is rejected: %s', async (settings, error) => {
  const valid = { endpoint: lrs.url, username: 'lectern', password: lrs.password };
  expectError(await send('POST', '', { ...valid, ...settings }), 422, error);
});

test('the stored password is never sent to another endpoint', async () => {
  const id = await create();
  const endpoint = 'https://elsewhere.example/xapi/';
  const moved = await send('PATCH', `/${id}`, { endpoint });
  expectError(moved, 422, 'password is required with another endpoint');
  expect((await send('PATCH', `/${id}`, { endpoint: lrs.url, verbs: ['completed'] })).status).toBe(200);
  expect((await send('PATCH', `/${id}`, { endpoint, password: 'another' })).status).toBe(200);
});

test('an organization has at most 5 destinations, also with concurrent requests', async () => {
  const { organization, headers } = await buildOrganization(api);
  const body = { endpoint: 'https://lrs.example/', username: 'lectern', password: 'a password' };
  const answers = await Promise.all(Array.from({ length: 8 }, () => send('POST', '', body, headers)));
  expect(answers.filter(({ status }) => status === 409).length).toBeGreaterThanOrEqual(3);
  const { _id: organizationId } = organization;
  expect(await api.db.xapiDestinations.countDocuments({ organizationId })).toBeLessThanOrEqual(5);
});

test('the password is stored sealed and never shown, and other organizations cannot reach the destination', async () => {
  const id = await create();
  const shown = await send('GET', `/${id}`);
  expect(jsonOf(shown)).not.toHaveProperty('password');
  expect(JSON.stringify(await api.db.xapiDestinations.findById(id).lean())).not.toContain(lrs.password);
  const stranger = await buildOrganization(api);
  for (const method of ['GET', 'DELETE', 'PATCH']) {
    const answer = await send(method, `/${id}`, method === 'PATCH' ? {} : undefined, stranger.headers);
    expectError(answer, 404, 'xAPI destination not found');
  }
  expect((await send('DELETE', `/${id}`)).status).toBe(204);
});
