import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { playerRelease } from '../../shared/player/player-release.ts';
import { signLaunchToken } from '../../shared/tokens/player-tokens.ts';
import { buildOrganization, buildPackage, buildPreviewToken, buildVersion } from '../support/factories.ts';
import { startHarness, testSigningSecrets } from '../support/harness.ts';
import type { Harness } from '../support/harness.ts';
import { ask, jsonOf } from '../support/answers.ts';
import type { Answer, AskOptions } from '../support/answers.ts';
import { createChecker } from './openapi-checks.ts';
import type { Document } from './openapi-checks.ts';
import { buildUser, logIn, openSession } from '../accounts/users.ts';

let harness: Harness;
let address: string;
let organizationId: string;
let headers: { authorization: string };
let cookie: { cookie: string };
let version: LessonVersion;
let mediaId: string;
let token: string;
let check: ReturnType<typeof createChecker>['expectDocumented'];
const learnerId = 'learner-1';
const platform = { platformId: randomUUID(), ltiUserId: 'user-1', contextId: null };

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGBgAAAABQABpfZFQAAAAABJRU5ErkJggg==',
  'base64',
);

beforeAll(async () => {
  harness = await startHarness();
  address = await harness.startApi();
  await harness.startWorker();
  check = createChecker(jsonOf(await ask(`${address}/openapi.json`)) as Document).expectDocumented;
  const built = await buildOrganization(harness);
  ({ headers } = built);
  organizationId = built.organization._id;
  const { path, mediaIds } = await buildPackage({
    media: [{ bytes: png }],
    blocks: ([id]) => [
      { type: 'Image', props: { id: 'Image-1', src: `media:${id}`, alt: '', caption: '' } },
      { type: 'OpenResponse', props: { id: 'OpenResponse-1', prompt: 'Why?' } },
    ],
    lesson: { variable_definitions: [{ name: 'points', type: 'number' }] },
  });
  mediaId = mediaIds[0] ?? '';
  version = await buildVersion(harness, built.organization, path);
  await buildVersion(harness, built.organization, (await buildPackage()).path, { publish: false });
  cookie = await openSession(address, (await buildUser(harness, built)).user);
  token = await signed({ versionId: version._id, userAttributes: { group: 'b' } });
});
afterAll(() => harness.close());

/** Asks, and holds the answer against the document. */
async function documented(operation: string, path: string, options: AskOptions = {}): Promise<Answer> {
  const [method] = operation.split(' ');
  const answer = await ask(address + path, { method, ...options });
  check(operation, answer);
  return answer;
}

function json(body: unknown, extra: object = {}): AskOptions {
  return {
    headers: { 'content-type': 'application/json', ...extra },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  };
}

const signToken = 'POST /api/public/sign-token';

async function signed(fields: object): Promise<string> {
  const body = { lessonId: version.lessonId, learnerId, ...fields };
  const answer = await documented(signToken, '/api/public/sign-token', json(body, headers));
  expect(answer.status).toBe(200);
  return (jsonOf(answer) as { token: string }).token;
}

test('tokens: good requests and each kind of bad one', async () => {
  const sign = async (body: unknown, extra: object) =>
    (await documented(signToken, '/api/public/sign-token', json(body, extra))).status;
  expect(await sign({}, {})).toBe(401);
  expect(await sign({ lessonId: randomUUID(), learnerId }, headers)).toBe(404);
  expect(await sign('{', headers)).toBe(422);
  expect(await sign(`"${'x'.repeat(70_000)}"`, headers)).toBe(413);
});

const playerData = 'GET /api/public/lessons/{lessonId}/player-data';

test('player data: with and without each option, and each kind of bad request', async () => {
  const load = async (query: string, lessonId = version.lessonId) =>
    (await documented(playerData, `/api/public/lessons/${lessonId}/player-data?${query}`)).status;
  expect(await load(`token=${token}`)).toBe(200);
  expect(await load(`token=${token}&include_metadata=true&validate_playability=false`)).toBe(200);
  expect(await load('')).toBe(400);
  expect(await load('token=x.y.z')).toBe(401);
  expect(await load(`token=${token}`, randomUUID())).toBe(403);
  const unpublished = await signed({ lessonId: (await draft()).lessonId });
  expect(await load(`token=${unpublished}`, (await draft()).lessonId)).toBe(404);
});

async function draft(): Promise<{ lessonId: string }> {
  const list = jsonOf(await ask(`${address}/api/lessons?status=draft`, { headers }));
  return { lessonId: (list as { lessons: { id: string }[] }).lessons[0]?.id ?? '' };
}

test('the session of an embed token: before, during and after, stale, and bad', async () => {
  const path = `/api/public/lessons/${version.lessonId}/session`;
  const read = 'GET /api/public/lessons/{lessonId}/session';
  const write = 'POST /api/public/lessons/{lessonId}/session';
  const post = (body: unknown, query = `token=${token}`) => documented(write, `${path}?${query}`, json(body));
  const place = { versionId: version._id, currentSectionIndex: 0, currentStepIndex: 0 };

  expect((await documented(read, `${path}?token=${token}`)).status).toBe(200);
  expect((await documented(read, path)).status).toBe(400);
  expect((await documented(read, `${path}?token=x`)).status).toBe(401);
  const answer = {
    ...place,
    revision: 0,
    progressData: { a: 1 },
    variableState: { points: 1 },
    items: [{ widgetId: 'OpenResponse-1', answer: 'Because.' }],
  };
  expect((await post(answer)).status).toBe(200);
  expect((await post(answer)).status).toBe(409);
  expect((await post({ ...place, revision: 1, completed: true })).status).toBe(200);
  expect((await post({ ...place, revision: 2, page: 1 })).status).toBe(422);
  expect((await post(answer, 'token=x')).status).toBe(401);
  expect((await post(`"${'x'.repeat(2 ** 20)}"`)).status).toBe(413);
  expect((await documented(read, `${path}?token=${token}`)).status).toBe(200);
});

test('a preview: its session, which a write is refused for', async () => {
  const path = `/api/public/lessons/${version.lessonId}/session?token=${buildPreviewToken(version)}`;
  const session = '/api/public/lessons/{lessonId}/session';
  expect((await documented(`GET ${session}`, path)).status).toBe(200);
  expect((await documented(`POST ${session}`, path, json({}))).status).toBe(403);
});

test('progress that is there, that is not, and that cannot be asked for', async () => {
  const operation = 'GET /api/public/lessons/{lessonId}/progress/{learnerId}';
  const read = async (lessonId: string, learner: string, extra: object = { headers }) =>
    (await documented(operation, `/api/public/lessons/${lessonId}/progress/${learner}`, extra)).status;
  expect(await read(version.lessonId, learnerId)).toBe(200);
  expect(await read(version.lessonId, 'nobody')).toBe(404);
  expect(await read('x', learnerId)).toBe(422);
  expect(await read(version.lessonId, learnerId, {})).toBe(401);
});

test('an LTI launch: its session and its progress', async () => {
  const claims = { organizationId, lessonId: version.lessonId, versionId: version._id, ...platform };
  const { token: launch } = signLaunchToken(testSigningSecrets, claims, 60);
  const path = `/api/public/lessons/${version.lessonId}`;
  const session = 'GET /api/public/lessons/{lessonId}/session';
  expect((await documented(session, `${path}/session?token=${launch}`)).status).toBe(200);
  expect((await documented(playerData, `${path}/player-data?token=${launch}`)).status).toBe(200);

  const place = { versionId: version._id, currentSectionIndex: 0, currentStepIndex: 0, revision: 0 };
  const write = 'POST /api/public/lessons/{lessonId}/session';
  const written = await documented(
    write,
    `${path}/session?token=${launch}`,
    json({ ...place, completed: true }),
  );
  expect(written.status).toBe(200);
  const operation = 'GET /api/public/lessons/{lessonId}/lti-progress/{ltiUserId}';
  const read = async (query: string) =>
    (await documented(operation, `${path}/lti-progress/user-1${query}`, { headers })).status;
  expect(await read(`?platformId=${platform.platformId}`)).toBe(200);
  expect(await read(`?platformId=${randomUUID()}`)).toBe(404);
  expect(await read('')).toBe(422);
});

test('media and widgets: found, fetched whole, in part and not again, and refused', async () => {
  const media = 'GET /api/public/lessons/{lessonId}/media/{mediaId}';
  const widgets = 'GET /api/public/lessons/{lessonId}/widgets/{file}';
  const asset = 'GET /assets/v1/{area}/{sha256}/{size}/{type}/{subtype}/{fileName}';
  const path = `/api/public/lessons/${version.lessonId}`;
  const found = await documented(media, `${path}/media/${mediaId}?token=${token}`);
  expect(found.status).toBe(302);
  const file = found.headers.get('location') ?? '';
  expect((await documented(media, `${path}/media/${randomUUID()}?token=${token}`)).status).toBe(404);
  expect((await documented(media, `${path}/media/x?token=${token}`)).status).toBe(400);
  expect((await documented(widgets, `${path}/widgets/OpenResponse.js?token=${token}`)).status).toBe(302);
  expect((await documented(widgets, `${path}/widgets/Quiz.js?token=${token}`)).status).toBe(404);

  const whole = await documented(asset, file);
  expect({ status: whole.status, same: whole.body.equals(png) }).toEqual({ status: 200, same: true });
  expect((await documented(asset, file, { headers: { range: 'bytes=0-3' } })).status).toBe(206);
  expect((await documented(asset, file, { headers: { range: 'bytes=900-' } })).status).toBe(416);
  expect((await documented(asset, file, { headers: { 'if-match': '"another"' } })).status).toBe(412);
  const etag = whole.headers.get('etag') ?? '';
  expect((await documented(asset, file, { headers: { 'if-none-match': etag } })).status).toBe(304);
  expect((await documented(asset, `${file}x`)).status).toBe(403);
});

test('an address for media and widgets, and what stands behind it', async () => {
  const operation = 'GET /api/public/lessons/{lessonId}/content';
  const behind = 'GET /content/v1/{lessonId}/{versionId}/{expires}/{signature}';
  const path = `/api/public/lessons/${version.lessonId}/content`;
  const answer = await documented(operation, `${path}?token=${token}`);
  const { base } = jsonOf(answer) as { base: string };
  expect((await documented(operation, path)).status).toBe(400);
  expect((await documented(operation, `${path}?token=x`)).status).toBe(401);
  const other = `${path}?token=${token}&versionId=${randomUUID()}`;
  expect((await documented(operation, other)).status).toBe(404);
  expect((await documented(`${behind}/media/{mediaId}`, `${base}media/${mediaId}`)).status).toBe(302);
  expect((await documented(`${behind}/media/{mediaId}`, `${base}media/x`)).status).toBe(400);
  expect((await documented(`${behind}/media/{mediaId}`, `${base}media/${randomUUID()}`)).status).toBe(404);
  const changed = base.replace(/.\/$/, (end) => (end === 'A/' ? 'E/' : 'A/'));
  expect((await documented(`${behind}/media/{mediaId}`, `${changed}media/x`)).status).toBe(403);
  expect((await documented(`${behind}/widgets/{file}`, `${base}widgets/Image.js`)).status).toBe(302);
  expect((await documented(`${behind}/widgets/{file}`, `${base}widgets/Quiz.js`)).status).toBe(404);
});

test('embed pages, their description for oEmbed, and the files they are made of', async () => {
  const embed = async (query: string, lessonId = version.lessonId) =>
    (await documented('GET /embed/{lessonId}', `/embed/${lessonId}${query}`)).status;
  expect(await embed(`?token=${token}`)).toBe(200);
  expect(await embed('')).toBe(200);
  expect(await embed('?token=')).toBe(400);
  expect(await embed('?token=x')).toBe(401);
  expect(await embed(`?token=${token}`, randomUUID())).toBe(403);
  const { lessonId } = await draft();
  expect(await embed(`?token=${await signed({ lessonId })}`, lessonId)).toBe(404);

  const page = encodeURIComponent(`${address}/embed/${lessonId}`);
  const described = async (query: string) => (await documented('GET /oembed', `/oembed${query}`)).status;
  expect(await described(`?url=${page}`)).toBe(200);
  expect(await described('')).toBe(400);
  expect(await described('?url=x')).toBe(404);
  expect(await described(`?url=${page}&format=xml`)).toBe(501);

  const { name } = await playerRelease();
  const file = async (path: string, extra: AskOptions = {}) =>
    documented('GET /player/{release}/{file}', `/player/${path}`, extra);
  const etag = (await file(`${name}/player.css`)).headers.get('etag') ?? '';
  const again = await file(`${name}/player.css`, { headers: { 'if-none-match': etag } });
  expect(again.status).toBe(304);
  expect((await file(`${name}/frame.html`)).status).toBe(200);
  expect((await file('0.0.0-00000000/player.css')).status).toBe(404);
  expect((await documented('GET /embed.js', '/embed.js')).status).toBe(200);
});

test('lists of lessons and versions, for credentials and for users', async () => {
  const lessons = 'GET /api/lessons';
  const versions = 'GET /api/lessons/{lessonId}/versions';
  expect((await documented(lessons, '/api/lessons', { headers })).status).toBe(200);
  expect((await documented(lessons, '/api/lessons?limit=1', { headers: cookie })).status).toBe(200);
  expect((await documented(lessons, '/api/lessons')).status).toBe(401);
  expect((await documented(lessons, '/api/lessons?page=2', { headers })).status).toBe(422);
  for (const { lessonId } of [version, await draft()]) {
    expect((await documented(versions, `/api/lessons/${lessonId}/versions`, { headers })).status).toBe(200);
  }
  expect((await documented(versions, `/api/lessons/${randomUUID()}/versions`, { headers })).status).toBe(404);
});

test('player data for users, of a published version and of a draft', async () => {
  const operation = 'GET /api/lessons/{lessonId}/player-data';
  const load = async (lessonId: string, query = '', extra: object = { headers: cookie }) =>
    (await documented(operation, `/api/lessons/${lessonId}/player-data${query}`, extra)).status;
  expect(await load(version.lessonId, '?include_metadata=true')).toBe(200);
  expect(await load((await draft()).lessonId)).toBe(404);
  expect(await load('x')).toBe(400);
  expect(await load(version.lessonId, '', {})).toBe(401);
});

test('sessions of users: begun, told, refused and ended', async () => {
  const { user } = await buildUser(harness);
  const begun = await logIn(address, user);
  check('POST /api/session', begun);
  expect(begun.status).toBe(200);
  const wrong = json({ email: user.email, password: 'wrong' });
  expect((await documented('POST /api/session', '/api/session', wrong)).status).toBe(401);
  expect((await documented('POST /api/session', '/api/session', json({}))).status).toBe(422);
  expect((await documented('GET /api/session', '/api/session', { headers: cookie })).status).toBe(200);
  expect((await documented('GET /api/session', '/api/session')).status).toBe(401);
  const foreign = { headers: { ...cookie, origin: 'https://evil.example' } };
  expect((await documented('DELETE /api/session', '/api/session', foreign)).status).toBe(403);
  expect((await documented('DELETE /api/session', '/api/session')).status).toBe(204);
});

test('exports: an archive, whole, in part and not again, and each kind of refusal', async () => {
  const operation = 'GET /api/lessons/{lessonId}/versions/{versionId}/export-zip';
  const download = async (lessonId: string, versionId: string, extra: object = { headers }) =>
    (await documented(operation, `/api/lessons/${lessonId}/versions/${versionId}/export-zip`, extra)).status;
  expect(await download(version.lessonId, version._id)).toBe(200);
  const asked = (condition: object) =>
    download(version.lessonId, version._id, { headers: { ...headers, ...condition } });
  expect(await asked({ range: 'bytes=0-3' })).toBe(206);
  expect(await asked({ range: 'bytes=90000000-' })).toBe(416);
  expect(await asked({ 'if-match': '"another"' })).toBe(412);
  expect(await asked({ 'if-none-match': '*' })).toBe(304);
  expect(await download('x', version._id)).toBe(400);
  expect(await download(version.lessonId, version._id, {})).toBe(401);
  expect(await download(version.lessonId, randomUUID())).toBe(404);
  const solo = await buildOrganization(harness, { plan: 'solo' });
  expect(await download(version.lessonId, version._id, { headers: solo.headers })).toBe(403);
});

test('health and the documentation itself', async () => {
  for (const path of ['/health/live', '/health/ready', '/openapi.json', '/docs', '/docs/scalar.js']) {
    expect((await documented(`GET ${path}`, path)).status).toBe(200);
  }
});

test('a refusal for too many requests', async () => {
  const limited = await harness.startApi({ RATE_LIMIT_PER_KEY: '1', RATE_LIMIT_PER_ADDRESS: '1' });
  for (const status of [200, 429]) {
    const answer = await ask(`${limited}/api/lessons`, { headers });
    expect(answer.status).toBe(status);
    check('GET /api/lessons', answer);
  }
  const refusals: [string, string, object][] = [
    [
      'GET /api/lessons/{lessonId}/versions/{versionId}/export-zip',
      `/api/lessons/${version.lessonId}/versions/${version._id}/export-zip`,
      { headers },
    ],
    [
      'GET /api/lessons/{lessonId}/player-data',
      `/api/lessons/${version.lessonId}/player-data`,
      { headers: cookie },
    ],
    [
      'GET /api/public/lessons/{lessonId}/media/{mediaId}',
      `/api/public/lessons/${version.lessonId}/media/${mediaId}?token=${token}`,
      {},
    ],
  ];
  await ask(`${limited}/api/session`);
  for (const [operation, path, options] of refusals) {
    const refused = await ask(limited + path, options);
    expect({ operation, status: refused.status }).toEqual({ operation, status: 429 });
    check(operation, refused);
  }
});
