import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { signContentUrl } from '../../shared/media/content-urls.ts';
import type { Organization } from '../../shared/models/organization.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { markLessonDeleted } from '../../shared/models/lesson.ts';
import { markVersionsUnpublished } from '../../shared/models/lesson-version.ts';
import { follow } from '../player/player-files.ts';
import { ask, expectError, jsonOf } from '../support/answers.ts';
import { buildLearnerToken, buildOrganization, buildPackage, buildVersion } from '../support/factories.ts';
import { testAssetSecret } from '../support/harness.ts';
import { useApi } from '../support/use.ts';
import { pngWith } from '../exports/pictures.ts';

const api = useApi();
let organization: Organization;
let version: LessonVersion;
let mediaId: string;
beforeEach(async () => {
  organization = (await buildOrganization(api)).organization;
  ({ version, mediaId } = await build());
});

const picture = pngWith('a picture');
const notFound = 'Lesson not found or access denied';

async function build(
  lessonId?: string,
  owner = organization,
): Promise<{ version: LessonVersion; mediaId: string }> {
  const { path, mediaIds } = await buildPackage({
    ...(lessonId !== undefined && { lessonId }),
    media: [{ bytes: picture, mimeType: 'image/png', extension: 'png' }],
  });
  return { version: await buildVersion(api, owner, path), mediaId: mediaIds[0] ?? '' };
}

interface Content {
  base: string;
  expiresAt: string;
  versionId: string;
}

function contentPath(token: string, query = '', { lessonId } = version): string {
  return `/api/public/lessons/${lessonId}/content?token=${token}${query}`;
}

async function contentOf(token: string, query = ''): Promise<Content> {
  return jsonOf(await ask(api.url + contentPath(token, query))) as Content;
}

function signed({ lessonId, _id: versionId }: LessonVersion, now = Date.now()) {
  return signContentUrl(testAssetSecret, 'files', { lessonId, versionId }, { now });
}

const mediumUrl = (id = mediaId) => `${api.url}${signed(version).url}media/${id}`;

test("a token gets a URL that opens its version's media and widgets without the token", async () => {
  const answer = await ask(api.url + contentPath(buildLearnerToken(version)));
  const { base, expiresAt, versionId } = jsonOf(answer) as Content;
  expect(versionId).toBe(version._id);
  const minutes = (Date.parse(expiresAt) - Date.now()) / 60_000;
  expect(minutes).toBeGreaterThan(59);
  expect(minutes).toBeLessThanOrEqual(90);
  expect(answer.headers.get('cache-control')).toBe('no-store');
  expect(answer.headers.get('access-control-allow-origin')).toBe('*');

  const medium = await follow(api.url, `${base}media/${mediaId}`);
  expect([medium.status, medium.headers.get('content-type')]).toEqual([200, 'image/png']);
  expect(medium.body.equals(picture)).toBe(true);
  const types = { 'Heading.js': 'text/javascript; charset=utf-8', 'Heading.css': 'text/css; charset=utf-8' };
  for (const [file, type] of Object.entries(types)) {
    const redirect = await ask(`${api.url}${base}widgets/${file}`);
    expect(redirect.status).toBe(302);
    expect(redirect.headers.get('cache-control')).toBe('private, max-age=1800');
    expect(redirect.headers.get('access-control-allow-origin')).toBe('*');
    expect((await follow(api.url, `${base}widgets/${file}`)).headers.get('content-type')).toBe(type);
  }
});

test.each([
  ['90 minutes', 90 * 60, 1800],
  ['a minute', 60, 0],
])('%s before its expiry, redirects and caches last no longer than the URL', async (_when, seconds, kept) => {
  const now = Date.now();
  const { url, expiresAt } = signed(version, now);
  vi.useFakeTimers({ now: expiresAt.getTime() - seconds * 1000, toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  const answer = await ask(`${api.url}${url}media/${mediaId}`);
  const location = new URL(answer.headers.get('location') ?? '', api.url);
  expect(Number(location.searchParams.get('expires')) * 1000).toBe(expiresAt.getTime());
  const secondsKept = Number(/max-age=(\d+)$/.exec(answer.headers.get('cache-control') ?? '')?.[1]);
  expect(secondsKept).toBeLessThanOrEqual(kept);
  expect(secondsKept).toBeGreaterThanOrEqual(kept - 30);
  const fileCache = (await ask(location.href)).headers.get('cache-control') ?? '';
  expect(Number(/^public, max-age=(\d+), immutable$/.exec(fileCache)?.[1])).toBeLessThanOrEqual(seconds);
});

test('all learners get the same URL, absolute with PUBLIC_URL', async () => {
  const tokens = ['ada', 'ben'].map((learnerId) => buildLearnerToken(version, { learnerId }));
  const [first, second] = await Promise.all(tokens.map((token) => contentOf(token)));
  expect(first).toEqual(second);
  const named = await api.startApi({ PUBLIC_URL: 'https://lessons.example/lectern' });
  const answer = jsonOf(await ask(named + contentPath(tokens[0] ?? ''))) as Content;
  expect(answer.base).toBe(`https://lessons.example/lectern${first?.base}`);
});

describe('the version', () => {
  test('is the requested one, the pinned one, or else the newest', async () => {
    const token = buildLearnerToken(version);
    const pinning = buildLearnerToken(version, { versionId: version._id });
    const { version: next } = await build(version.lessonId);
    expect((await contentOf(token)).versionId).toBe(next._id);
    const requested = await contentOf(token, `&versionId=${version._id.toUpperCase()}`);
    expect(requested.versionId).toBe(version._id);
    expect((await ask(`${api.url}${requested.base}media/${mediaId}`)).status).toBe(302);
    expect((await contentOf(pinning)).versionId).toBe(version._id);
    expect((await contentOf(pinning, `&versionId=${version._id}`)).versionId).toBe(version._id);
    expectError(await ask(api.url + contentPath(pinning, `&versionId=${next._id}`)), 404, notFound);
  });

  test('is never a draft, an unpublished one, or of another lesson or organization', async () => {
    const token = buildLearnerToken(version);
    const { path } = await buildPackage({ lessonId: version.lessonId });
    const draft = await buildVersion(api, organization, path, { publish: false });
    const { lessonId, _id: versionId } = (await build(version.lessonId)).version;
    await markVersionsUnpublished(api.db, { lessonId, versionId });
    const { version: other } = await build();
    const { version: foreign } = await build(undefined, (await buildOrganization(api)).organization);
    for (const _id of [draft._id, versionId, other._id, foreign._id, randomUUID()]) {
      expectError(await ask(api.url + contentPath(token, `&versionId=${_id}`)), 404, notFound);
    }
  });
});

test('invalid requests get the errors of the session endpoint', async () => {
  const token = buildLearnerToken(version);
  const { version: other } = await build();
  for (const [path, status, error] of [
    [contentPath(token).replace(version.lessonId, 'x'), 400, 'Invalid lesson ID'],
    [contentPath(''), 400, 'token is required'],
    [contentPath(token, '&versionId=x'), 400, 'Invalid version ID'],
    [contentPath('x'), 401, 'Token verification failed: Malformed token'],
    [contentPath(token, '', other), 403, 'Token does not grant access to this lesson'],
  ] as const)
    expectError(await ask(api.url + path), status, error);
  expectError(await ask(api.url + contentPath(token), { method: 'POST' }), 405, 'POST is not allowed here');
});

describe('a URL is rejected', () => {
  const forbidden = 'Invalid or expired signature';

  test('after its expiry, and after a change of any part', async () => {
    const url = mediumUrl();
    expect((await ask(url)).status).toBe(302);
    for (const invalid of [
      url.replace(version.lessonId, randomUUID()),
      url.replace(version._id, randomUUID()),
      url.replace(/\/(\d{10})\//, (_all, expires: string) => `/${Number(expires) + 3600}/`),
      url.replace(/.(?=\/media)/, (last) => (last === 'A' ? 'E' : 'A')),
      `${api.url}${signed(version, Date.now() - 18e6).url}media/${mediaId}`,
    ]) {
      const answer = await ask(invalid);
      expectError(answer, 403, forbidden);
      expect(answer.headers.get('cache-control')).toBe('no-store');
      expect(answer.headers.get('access-control-allow-origin')).toBe('*');
    }
  });

  test('for other versions, media, widgets and paths', async () => {
    const { version: next, mediaId: nextMedium } = await build(version.lessonId);
    expectError(await ask(mediumUrl(nextMedium)), 404, 'Media file not found');
    expectError(await ask(mediumUrl('x')), 400, 'Invalid media ID');
    expectError(await ask(`${api.url}${signed(version).url}widgets/Video.js`), 404, 'Widget not found');
    expectError(await ask(mediumUrl(nextMedium).replace(version._id, next._id)), 403, forbidden);
    expect((await ask(`${api.url}${signed(version).url}session`)).status).toBe(404);
    const posted = await ask(mediumUrl(), { method: 'POST' });
    expectError(posted, 405, 'POST is not allowed here');
    expect(posted.headers.get('allow')).toBe('GET, HEAD, OPTIONS');
  });

  test('as soon as its version is unpublished', async () => {
    const { lessonId, _id: versionId } = version;
    await build(lessonId);
    await markVersionsUnpublished(api.db, { lessonId, versionId });
    expectError(await ask(mediumUrl()), 404, notFound);
  });

  test('as soon as its lesson is deleted', async () => {
    await markLessonDeleted(api.db, version.lessonId);
    expectError(await ask(mediumUrl()), 404, notFound);
  });
});
