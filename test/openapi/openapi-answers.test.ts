import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { inviteRegistration } from '../../shared/models/lti-registration.ts';
import { playerRelease } from '../../shared/player/player-release.ts';
import { signLaunchToken } from '../../shared/tokens/player-tokens.ts';
import { startSimulator } from '../../simulator/start.ts';
import {
  buildLearnerToken,
  buildOrganization,
  buildPackage,
  buildPreviewToken,
  buildVersion,
} from '../support/factories.ts';
import { testSigningSecrets } from '../support/harness.ts';
import { ask, jsonOf } from '../support/answers.ts';
import type { Answer, AskOptions } from '../support/answers.ts';
import { useApi, useStarted } from '../support/use.ts';
import { buildUser, openSession, testPassword } from '../accounts/users.ts';
import { createChecker } from './openapi-checks.ts';
import type { Document } from './openapi-checks.ts';

const learnerId = 'learner-1';
const platform = { platformId: randomUUID(), ltiUserId: 'user-1', contextId: null };

const simulator = useStarted(startSimulator, (one) => one.close());
const api = useApi(() => ({ LECTERN_ALLOWED_PRIVATE_HOSTS: new URL(simulator.issuer).host }), {
  worker: true,
});
const built = useStarted(
  async () => {
    const { organization, headers } = api;
    const organizationId = organization._id;
    const { path, mediaIds } = await buildPackage({
      media: [{ bytes: Buffer.from('GIF89a') }],
      blocks: ([id]) => [
        { type: 'Image', props: { id: 'Image-1', src: `media:${id}`, alt: '', caption: '' } },
        { type: 'OpenResponse', props: { id: 'OpenResponse-1', prompt: 'Why?' } },
      ],
      lesson: { variable_definitions: [{ name: 'points', type: 'number' }] },
    });
    const version = await buildVersion(api, organization, path);
    const draft = await buildVersion(api, organization, (await buildPackage()).path, { publish: false });
    const { user } = await buildUser(api, { organization });
    const { cookie } = await openSession(api.url, user);
    const claims = { organizationId, lessonId: version.lessonId, versionId: version._id, ...platform };
    const document = jsonOf(await ask(`${api.url}/openapi.json`)) as Document;
    return {
      version,
      draft,
      mediaId: mediaIds[0] ?? '',
      token: buildLearnerToken({ organizationId, lessonId: version.lessonId }, { learnerId }),
      draftToken: buildLearnerToken({ organizationId, lessonId: draft.lessonId }),
      preview: buildPreviewToken(version),
      launch: signLaunchToken(testSigningSecrets, claims, 60).token,
      solo: (await buildOrganization(api, { plan: 'solo' })).headers,
      email: user.email,
      session: { cookie },
      headers,
      check: createChecker(document).expectDocumented,
    };
  },
  () => Promise.resolve(),
);

/** Sends a request and compares the response with the document. */
async function documented(operation: string, path: string, options: AskOptions = {}): Promise<Answer> {
  const [method = ''] = operation.split(' ');
  const url = new URL(path, api.url).href;
  const answer = await ask(url, { method, ...options });
  built.check(operation, answer);
  return answer;
}

function json(body: unknown, headers: Record<string, string> = {}): AskOptions {
  return {
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  };
}

/** Requests to a path below one operation's: what follows the base path, the options, and the expected status. */
type Row = [status: number, path: string, options?: AskOptions];

async function expectStatuses(operation: string, base: string, rows: Row[]): Promise<void> {
  for (const [status, path, options] of rows) {
    const answer = await documented(operation, base + path, options);
    expect({ path, status: answer.status }).toEqual({ path, status });
  }
}

const lessonPath = () => `/api/public/lessons/${built.version.lessonId}`;
const none = randomUUID();

test('tokens', async () => {
  const { headers, version } = built;
  await expectStatuses('POST /api/public/sign-token', '/api/public/sign-token', [
    [200, '', json({ lessonId: version.lessonId, learnerId }, headers)],
    [401, '', json({})],
    [404, '', json({ lessonId: none, learnerId }, headers)],
    [422, '', json('{', headers)],
    [413, '', json(`"${'x'.repeat(70_000)}"`, headers)],
  ]);
});

test('player data', async () => {
  const { token, draft, draftToken, launch } = built;
  await expectStatuses('GET /api/public/lessons/{lessonId}/player-data', '', [
    [200, `${lessonPath()}/player-data?token=${token}`],
    [200, `${lessonPath()}/player-data?token=${token}&include_metadata=true&validate_playability=false`],
    [200, `${lessonPath()}/player-data?token=${launch}`],
    [400, `${lessonPath()}/player-data`],
    [401, `${lessonPath()}/player-data?token=x.y.z`],
    [403, `/api/public/lessons/${none}/player-data?token=${token}`],
    [404, `/api/public/lessons/${draft.lessonId}/player-data?token=${draftToken}`],
  ]);
});

test('sessions of learners, and their progress', async () => {
  const { headers, token, preview, launch, version } = built;
  const read = 'GET /api/public/lessons/{lessonId}/session';
  const write = 'POST /api/public/lessons/{lessonId}/session';
  const place = { versionId: version._id, currentSectionIndex: 0, currentStepIndex: 0 };
  const first = {
    ...place,
    revision: 0,
    progressData: { a: 1 },
    variableState: { points: 1 },
    items: [{ widgetId: 'OpenResponse-1', answer: 'Because.' }],
  };
  const session = `${lessonPath()}/session`;
  await expectStatuses(read, session, [
    [200, `?token=${token}`],
    [200, `?token=${launch}`],
    [200, `?token=${preview}`],
    [400, ''],
    [401, '?token=x'],
  ]);
  await expectStatuses(write, session, [
    [200, `?token=${token}`, json(first)],
    [409, `?token=${token}`, json(first)],
    [200, `?token=${token}`, json({ ...place, revision: 1, completed: true })],
    [422, `?token=${token}`, json({ ...place, revision: 2, page: 1 })],
    [401, '?token=x', json(first)],
    [413, `?token=${token}`, json(`"${'x'.repeat(2 ** 20)}"`)],
    [200, `?token=${launch}`, json({ ...place, revision: 0, completed: true })],
    [403, `?token=${preview}`, json({})],
  ]);
  await expectStatuses(read, session, [[200, `?token=${token}`]]);

  await expectStatuses('GET /api/public/lessons/{lessonId}/progress/{learnerId}', '', [
    [200, `${lessonPath()}/progress/${learnerId}`, { headers }],
    [404, `${lessonPath()}/progress/unknown`, { headers }],
    [422, `/api/public/lessons/x/progress/${learnerId}`, { headers }],
    [401, `${lessonPath()}/progress/${learnerId}`],
  ]);
  const ofPlatform = `${lessonPath()}/lti-progress/user-1`;
  await expectStatuses('GET /api/public/lessons/{lessonId}/lti-progress/{ltiUserId}', ofPlatform, [
    [200, `?platformId=${platform.platformId}`, { headers }],
    [404, `?platformId=${none}`, { headers }],
    [422, '', { headers }],
  ]);
});

test('media and widgets', async () => {
  const { mediaId, token } = built;
  await expectStatuses('GET /api/public/lessons/{lessonId}/media/{mediaId}', `${lessonPath()}/media/`, [
    [302, `${mediaId}?token=${token}`],
    [404, `${none}?token=${token}`],
    [400, `x?token=${token}`],
  ]);
  await expectStatuses('GET /api/public/lessons/{lessonId}/widgets/{file}', `${lessonPath()}/widgets/`, [
    [302, `OpenResponse.js?token=${token}`],
    [404, `Quiz.js?token=${token}`],
  ]);
  const found = await ask(`${api.url}${lessonPath()}/media/${mediaId}?token=${token}`);
  const file = found.headers.get('location') ?? '';
  const asset = 'GET /assets/v1/{area}/{sha256}/{size}/{type}/{subtype}/{fileName}';
  const etag = (await ask(new URL(file, api.url).href)).headers.get('etag') ?? '';
  await expectStatuses(asset, file, [
    [200, ''],
    [206, '', { headers: { range: 'bytes=0-3' } }],
    [416, '', { headers: { range: 'bytes=900-' } }],
    [412, '', { headers: { 'if-match': '"another"' } }],
    [304, '', { headers: { 'if-none-match': etag } }],
    [403, 'x'],
  ]);
});

test('signed URLs of media and widgets', async () => {
  const { mediaId, token } = built;
  const operation = 'GET /api/public/lessons/{lessonId}/content';
  const { base } = jsonOf(await documented(operation, `${lessonPath()}/content?token=${token}`)) as {
    base: string;
  };
  await expectStatuses(operation, `${lessonPath()}/content`, [
    [400, ''],
    [401, '?token=x'],
    [404, `?token=${token}&versionId=${none}`],
  ]);
  const signed = 'GET /content/v1/{lessonId}/{versionId}/{expires}/{signature}';
  const forged = base.replace(/.\/$/, (end) => (end === 'A/' ? 'E/' : 'A/'));
  await expectStatuses(`${signed}/media/{mediaId}`, '', [
    [302, `${base}media/${mediaId}`],
    [400, `${base}media/x`],
    [404, `${base}media/${none}`],
    [403, `${forged}media/x`],
  ]);
  await expectStatuses(`${signed}/widgets/{file}`, `${base}widgets/`, [
    [302, 'Image.js'],
    [404, 'Quiz.js'],
  ]);
});

test('embed pages, oEmbed and the files of the player', async () => {
  const { token, draft, draftToken, version } = built;
  await expectStatuses('GET /embed/{lessonId}', '/embed/', [
    [200, `${version.lessonId}?token=${token}`],
    [200, version.lessonId],
    [400, `${version.lessonId}?token=`],
    [401, `${version.lessonId}?token=x`],
    [403, `${none}?token=${token}`],
    [404, `${draft.lessonId}?token=${draftToken}`],
  ]);
  const page = encodeURIComponent(`${api.url}/embed/${version.lessonId}`);
  await expectStatuses('GET /oembed', '/oembed', [
    [200, `?url=${page}`],
    [400, ''],
    [404, '?url=x'],
    [501, `?url=${page}&format=xml`],
  ]);
  const { name } = await playerRelease();
  const etag = (await ask(`${api.url}/player/${name}/player.css`)).headers.get('etag') ?? '';
  await expectStatuses('GET /player/{release}/{file}', '/player/', [
    [200, `${name}/player.css`],
    [200, `${name}/frame.html`],
    [304, `${name}/player.css`, { headers: { 'if-none-match': etag } }],
    [404, '0.0.0-00000000/player.css'],
  ]);
  await expectStatuses('GET /embed.js', '/embed.js', [[200, '']]);
});

test('lessons, for credentials and for users', async () => {
  const { headers, session, version, draft } = built;
  await expectStatuses('GET /api/lessons', '/api/lessons', [
    [200, '', { headers }],
    [200, '?limit=1', { headers: session }],
    [401, ''],
    [422, '?page=2', { headers }],
  ]);
  await expectStatuses('GET /api/lessons/{lessonId}/versions', '/api/lessons/', [
    [200, `${version.lessonId}/versions`, { headers }],
    [200, `${draft.lessonId}/versions`, { headers }],
    [404, `${none}/versions`, { headers }],
  ]);
  await expectStatuses('GET /api/lessons/{lessonId}/player-data', '/api/lessons/', [
    [200, `${version.lessonId}/player-data?include_metadata=true`, { headers: session }],
    [404, `${draft.lessonId}/player-data`, { headers: session }],
    [400, 'x/player-data', { headers: session }],
    [401, `${version.lessonId}/player-data`],
  ]);
});

test('sessions of users', async () => {
  const { session, email } = built;
  await expectStatuses('POST /api/session', '/api/session', [
    [200, '', json({ email, password: testPassword })],
    [401, '', json({ email, password: 'wrong' })],
    [422, '', json({})],
  ]);
  await expectStatuses('GET /api/session', '/api/session', [
    [200, '', { headers: session }],
    [401, ''],
  ]);
  await expectStatuses('DELETE /api/session', '/api/session', [
    [403, '', { headers: { ...session, origin: 'https://evil.example' } }],
    [204, ''],
  ]);
});

test('archives', async () => {
  const { headers, solo, version } = built;
  const own = `${version.lessonId}/versions/${version._id}/export-zip`;
  const asked = (condition: object) => ({ headers: { ...headers, ...condition } });
  await expectStatuses('GET /api/lessons/{lessonId}/versions/{versionId}/export-zip', '/api/lessons/', [
    [200, own, { headers }],
    [206, own, asked({ range: 'bytes=0-3' })],
    [416, own, asked({ range: 'bytes=90000000-' })],
    [412, own, asked({ 'if-match': '"another"' })],
    [304, own, asked({ 'if-none-match': '*' })],
    [400, `x/versions/${version._id}/export-zip`, { headers }],
    [401, own],
    [404, `${version.lessonId}/versions/${none}/export-zip`, { headers }],
    [403, own, { headers: solo }],
  ]);
});

test.each(['/health/live', '/health/ready', '/openapi.json', '/docs', '/docs/scalar.js', '/lti/jwks'])(
  '%s',
  async (path) => expectStatuses(`GET ${path}`, path, [[200, '']]),
);

test('registrations of learning platforms', async () => {
  const invite = async () => {
    const { token } = await inviteRegistration(api.db, api.organization._id);
    return `${api.url}/lti/register/${token}`;
  };
  const invitation = await invite();
  const registration = simulator.registrationUrl(invitation);
  const operation = 'GET /lti/register/{token}';
  await expectStatuses(operation, '', [
    [400, invitation],
    [404, simulator.registrationUrl(`${invitation}x`)],
  ]);
  simulator.fail('registration', { times: 1, status: 400 });
  await expectStatuses(operation, '', [
    [502, registration],
    [200, registration],
    [409, registration],
  ]);
  const late = simulator.registrationUrl(await invite());
  await api.db.ltiRegistrations.updateMany({ platformId: null }, { expiresAt: new Date() });
  await expectStatuses(operation, '', [[403, late]]);
});

describe('over the rate limit', () => {
  test.each<[operation: string, path: () => string, options: () => AskOptions]>([
    [
      'GET /api/lessons/{lessonId}/versions/{versionId}/export-zip',
      () => `/api/lessons/${built.version.lessonId}/versions/${built.version._id}/export-zip`,
      () => ({ headers: built.headers }),
    ],
    [
      'GET /api/lessons/{lessonId}/player-data',
      () => `/api/lessons/${built.version.lessonId}/player-data`,
      () => ({ headers: built.session }),
    ],
    [
      'GET /api/public/lessons/{lessonId}/media/{mediaId}',
      () => `${lessonPath()}/media/${built.mediaId}?token=${built.token}`,
      () => ({}),
    ],
  ])('%s', async (operation, path, options) => {
    const limited = await api.startApi({ RATE_LIMIT_PER_KEY: '1', RATE_LIMIT_PER_ADDRESS: '1' });
    await ask(limited + path(), options());
    const rejected = await ask(limited + path(), options());
    expect(rejected.status).toBe(429);
    built.check(operation, rejected);
  });
});
