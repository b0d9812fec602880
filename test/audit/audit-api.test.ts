import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { buildUser, openSession } from '../accounts/users.ts';
import { Player, useLesson } from '../player/player-lessons.ts';
import { ask, jsonOf } from '../support/answers.ts';
import { buildLaunchToken, buildLearnerToken, buildOrganization } from '../support/factories.ts';
import { useApi } from '../support/use.ts';
import { waitFor } from '../support/wait-for.ts';

const api = useApi();
const version = useLesson(api);

interface Entry {
  id: string;
  action: string;
  actor: { type: string; id: string };
  target: { type: string; id: string } | null;
  details: Record<string, unknown>;
  ip: string | null;
  requestId: string | null;
}

interface Page {
  entries: Entry[];
  nextCursor: string | null;
}

async function read(query: Record<string, string> = {}, headers = api.headers): Promise<Page> {
  const answer = await ask(`${api.url}/api/audit?${new URLSearchParams(query).toString()}`, { headers });
  expect(answer.status).toBe(200);
  return jsonOf(answer) as Page;
}

/** Reads until the entries are complete. Entries are stored a second late, so it asks MongoDB for the next ones. */
function readUntil(
  isComplete: (entries: Entry[]) => boolean,
  query: Record<string, string>,
  headers = api.headers,
): Promise<Entry[]> {
  const countEntries = () => api.db.auditEntries.countDocuments({});
  return waitFor('the entries', async () => {
    const before = await countEntries();
    const { entries } = await read(query, headers);
    if (isComplete(entries)) return entries;
    await waitFor('the next entries', async () => (await countEntries()) > before);
    return undefined;
  });
}

const readAbout = (query: Record<string, string>) => readUntil(({ length }) => length > 0, query);

const publicKey = () => api.credentials.split('.')[0];

test('reading a learner’s progress is recorded with key, address and request; the learner by a pseudonym', async () => {
  const learnerId = `ann-${randomUUID()}`;
  await new Player(api.url, version, buildLearnerToken(version, { learnerId })).write();
  const path = `/api/public/lessons/${version.lessonId}/progress/${learnerId}`;
  const { status, headers } = await ask(api.url + path, { headers: api.headers });
  expect(status).toBe(200);
  const entries = await readAbout({ learnerId, action: 'progress.read' });
  expect(entries).toEqual([
    {
      ...{ id: expect.any(String) as string, at: expect.any(String) as string },
      action: 'progress.read',
      actor: { type: 'key', id: publicKey() },
      target: { type: 'learner', id: expect.stringMatching(/^[\w-]{43}$/) as string },
      details: { lessonId: version.lessonId },
      ip: '127.0.0.1',
      requestId: headers.get('x-request-id'),
    },
  ]);
  expect(JSON.stringify(await read())).not.toContain(learnerId);
  // What the caller did not get is no reading.
  const unknown = `${path}-unknown`;
  expect((await ask(api.url + unknown, { headers: api.headers })).status).toBe(404);
  expect((await read({ learnerId: `${learnerId}-unknown` })).entries).toEqual([]);
});

test('signing a token and its first use are recorded under one id, and its further uses are not', async () => {
  const learnerId = `eve-${randomUUID()}`;
  const signing = await ask(`${api.url}/api/public/sign-token`, {
    headers: { ...api.headers, 'content-type': 'application/json' },
    method: 'POST',
    body: JSON.stringify({ lessonId: version.lessonId, learnerId }),
  });
  const { token } = jsonOf(signing) as { token: string };
  const path = `${api.url}/api/public/lessons/${version.lessonId}`;
  for (const url of [`${path}/session`, `${path}/player-data`, `${api.url}/embed/${version.lessonId}`])
    expect((await ask(`${url}?token=${token}`)).status).toBe(200);
  const aboutToken = ({ action }: { action: string }) => action.startsWith('token.');
  const entries = await readUntil((all) => all.filter(aboutToken).length > 1, { learnerId });
  const [signed, used, ...more] = entries.filter(aboutToken);
  const { lessonId } = version;
  const id = expect.stringMatching(/^[\w-]{22}$/) as string;
  expect(signed).toMatchObject({
    ...{ action: 'token.sign', actor: { type: 'key', id: publicKey() } },
    ...{ target: { type: 'learner' }, details: { lessonId, token: id } },
  });
  expect(used).toMatchObject({
    ...{ action: 'token.use', actor: { type: 'token', id: signed?.details.token } },
    ...{ target: signed?.target, details: { lessonId, kind: 'embed' }, ip: '127.0.0.1' },
  });
  expect(more).toEqual([]);
});

test('users of two platforms with the same id are different learners', async () => {
  const ltiUserId = `user-${randomUUID()}`;
  const platforms = [randomUUID(), randomUUID()];
  for (const platformId of platforms) {
    await new Player(api.url, version, buildLaunchToken(version, { ltiUserId, platformId })).write();
  }
  const [platformId = '', other = ''] = platforms;
  const path = `/api/public/lessons/${version.lessonId}/lti-progress/${ltiUserId}?platformId=${platformId}`;
  expect((await ask(api.url + path, { headers: api.headers })).status).toBe(200);
  const action = 'progress.read';
  const [entry] = await readAbout({ learnerId: ltiUserId, platformId, action });
  expect(entry).toMatchObject({ action, details: { platformId } });
  expect((await read({ learnerId: ltiUserId, platformId: other, action })).entries).toEqual([]);
});

test.each<[string, (ids: { user: string; platformId: string }) => string]>([
  [
    'a second learner in the query, and upper case in the id of the platform',
    ({ user, platformId }) =>
      `/api/lti-learners/${user}/export?platformId=${platformId.toUpperCase()}&learnerId=decoy`,
  ],
  [
    'undeclared parameters of any length',
    ({ user, platformId }) =>
      `/api/lti-learners/${user}/export?platformId=${platformId}&webhookId=${'x'.repeat(20_000)}`,
  ],
])('an entry is about the learner whose data were read, despite %s', async (_title, pathOf) => {
  const [user, platformId] = [`user-${randomUUID()}`, randomUUID()];
  await new Player(api.url, version, buildLaunchToken(version, { ltiUserId: user, platformId })).write();
  const path = pathOf({ user, platformId });
  expect((await ask(api.url + path, { headers: api.headers })).status).toBe(200);
  const about = { learnerId: user, platformId: platformId.toUpperCase(), action: 'learner.export' };
  expect((await readAbout(about)).map(({ details }) => details)).toEqual([{ platformId }]);
});

test('a change is recorded before its response, with the id of what it created', async () => {
  const answer = await ask(`${api.url}/api/xapi-destinations`, {
    method: 'POST',
    headers: { ...api.headers, 'content-type': 'application/json' },
    body: JSON.stringify({ endpoint: 'https://lrs.example.com/xapi/', username: 'u', password: 'p' }),
  });
  const { id } = jsonOf(answer) as { id: string };
  const { entries } = await read({ action: 'destination.create' });
  expect(entries.at(-1)).toMatchObject({ actor: { id: publicKey() }, target: { type: 'created', id } });
  expect(JSON.stringify(entries)).not.toContain('"p"');
  const path = `/api/xapi-destinations/${id}?learnerId=decoy&lessonId=${'x'.repeat(20_000)}`;
  await ask(api.url + path, { method: 'DELETE', headers: api.headers });
  const deleted = (await read({ action: 'destination.delete' })).entries.at(-1);
  expect(deleted).toMatchObject({ target: { type: 'destination', id }, details: {} });
});

test('logins, rejected logins, logouts, statistics and imports are recorded', async () => {
  const { user } = await buildUser(api, { organization: api.organization });
  const rejected = await ask(`${api.url}/api/session?lessonId=anything`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: user.email, password: 'wrong password' }),
  });
  expect(rejected.status).toBe(401);
  const headers = await openSession(api.url, user);
  await ask(`${api.url}/api/session`, { method: 'DELETE', headers });
  // Ends no session.
  await ask(`${api.url}/api/session`, { method: 'DELETE' });
  await ask(`${api.url}/api/lessons/${version.lessonId}/statistics`, { headers: api.headers });
  await ask(`${api.url}/api/lessons/imports`, {
    method: 'POST',
    headers: { ...api.headers, 'tus-resumable': '1.0.0', 'upload-length': '1000' },
  });
  const actions = ['session.reject', 'statistics.read', 'import.create'];
  const recorded = await readUntil(
    (entries) => actions.every((action) => entries.some((entry) => entry.action === action)),
    { limit: '1000' },
  );
  const ofSessions = recorded.filter(({ action }) => action.startsWith('session.'));
  expect(ofSessions.map(({ action }) => action).sort()).toEqual([
    'session.begin',
    'session.end',
    'session.reject',
  ]);
  for (const { action, actor, target, details } of ofSessions) {
    expect({ target, details }).toEqual({
      target: { type: 'user', id: user._id },
      details: action === 'session.reject' ? { reason: 'wrong_password' } : {},
    });
    // Whoever sent a wrong password is not known to be the user.
    expect(actor.type).toBe(action === 'session.reject' ? 'system' : 'user');
  }
});

test('pages follow each other without gaps in both orders; NDJSON has all entries; another organization sees none of them', async () => {
  const own = await buildOrganization(api);
  for (let index = 0; index < 5; index += 1) await read({}, own.headers);
  const all = await readUntil(({ length }) => length >= 5, {}, own.headers);
  for (const order of ['oldest', 'newest'] as const) {
    const paged: string[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const query: Record<string, string> = { order, limit: '2', ...(cursor !== '' && { cursor }) };
      const page: Page = await read(query, own.headers);
      expect(page.entries.length).toBeLessThanOrEqual(2);
      paged.push(...page.entries.map(({ id }) => id));
      cursor = page.nextCursor;
    }
    if (order === 'newest') paged.reverse();
    expect(paged.slice(0, all.length)).toEqual(all.map(({ id }) => id));
  }
  const lines = await ask(`${api.url}/api/audit`, {
    headers: { ...own.headers, accept: 'application/x-ndjson' },
  });
  const listed = lines.body.toString().trim().split('\n');
  expect(listed.slice(0, all.length).map((line) => (JSON.parse(line) as Entry).id)).toEqual(
    all.map(({ id }) => id),
  );
  expect(new Set(all.map(({ actor }) => actor.id))).toEqual(new Set([own.credentials.split('.')[0]]));
});
