import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { signContentUrl } from '../../shared/media/content-urls.ts';
import type { Organization } from '../../shared/models/organization.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { markLessonDeleted } from '../../shared/models/lesson.ts';
import { markVersionsUnpublished } from '../../shared/models/lesson-version.ts';
import { buildLearnerToken, buildOrganization, buildPackage, buildVersion } from '../support/factories.ts';
import { startHarness, testAssetSecret } from '../support/harness.ts';
import type { Harness } from '../support/harness.ts';
import { ask, expectError, jsonOf } from '../support/answers.ts';
import { follow } from '../player/player-files.ts';

let harness: Harness;
let api: string;
let organization: Organization;
let version: LessonVersion;
let mediaId: string;
beforeAll(async () => {
  harness = await startHarness();
  api = await harness.startApi();
});
afterAll(() => harness.close());
beforeEach(async () => {
  organization = (await buildOrganization(harness)).organization;
  ({ version, mediaId } = await build());
});

const picture = Buffer.from('a picture');

async function build(
  lessonId?: string,
  owner = organization,
): Promise<{ version: LessonVersion; mediaId: string }> {
  const { path, mediaIds } = await buildPackage({
    ...(lessonId !== undefined && { lessonId }),
    media: [{ bytes: picture, mimeType: 'image/gif', extension: 'gif' }],
  });
  return { version: await buildVersion(harness, owner, path), mediaId: mediaIds[0] ?? '' };
}

interface ContentAddress {
  base: string;
  expiresAt: string;
  versionId: string;
}

function addressPath(token: string, query = '', { lessonId } = version): string {
  return `/api/public/lessons/${lessonId}/content?token=${token}${query}`;
}

async function addressOf(token: string, query = ''): Promise<ContentAddress> {
  return jsonOf(await ask(api + addressPath(token, query))) as ContentAddress;
}

const signed = ({ lessonId, _id: versionId }: LessonVersion) =>
  signContentUrl(testAssetSecret, { lessonId, versionId }).url;

const gone = 'Lesson not found or access denied';

test('a token leads to an address that opens media and widgets of its version without the token', async () => {
  const answer = await ask(api + addressPath(buildLearnerToken(version)));
  const { base, expiresAt, versionId } = jsonOf(answer) as ContentAddress;
  expect(versionId).toBe(version._id);
  const minutes = (Date.parse(expiresAt) - Date.now()) / 60_000;
  expect(minutes).toBeGreaterThan(59);
  expect(minutes).toBeLessThanOrEqual(90);
  expect(answer.headers.get('cache-control')).toBe('no-store');
  expect(answer.headers.get('access-control-allow-origin')).toBe('*');

  const medium = await follow(api, `${base}media/${mediaId}`);
  expect({ status: medium.status, type: medium.headers.get('content-type') }).toEqual({
    status: 200,
    type: 'image/gif',
  });
  expect(medium.body.equals(picture)).toBe(true);
  const types = ['text/javascript; charset=utf-8', 'text/css; charset=utf-8'];
  for (const [index, file] of ['Heading.js', 'Heading.css'].entries()) {
    const led = await ask(`${api}${base}widgets/${file}`);
    expect(led.status).toBe(302);
    expect(led.headers.get('cache-control')).toBe('private, max-age=1800');
    expect(led.headers.get('access-control-allow-origin')).toBe('*');
    const widget = await follow(api, `${base}widgets/${file}`);
    expect(widget.headers.get('content-type')).toBe(types[index]);
  }
});

test.each([
  ['90 minutes', 90 * 60, 'private, max-age=1800'],
  ['40 minutes', 40 * 60, 'private, max-age=600'],
  ['a minute', 60, 'private, max-age=0'],
])('what it leads to ends with it, and no cache keeps it longer: %s before', async (_when, seconds, kept) => {
  const { lessonId, _id: versionId } = version;
  const now = Date.now();
  // Signed so long ago that it ends then: on a half hour, as all do.
  const { expiresAt } = signContentUrl(testAssetSecret, { lessonId, versionId }, { now });
  const clock = vi.useFakeTimers({ now: expiresAt.getTime() - seconds * 1000, toFake: ['Date'] });
  onTestFinished(() => void clock.useRealTimers());
  const { url } = signContentUrl(testAssetSecret, { lessonId, versionId }, { now });
  const answer = await ask(`${api}${url}media/${mediaId}`);
  const location = new URL(answer.headers.get('location') ?? '', api);
  expect(Number(location.searchParams.get('expires')) * 1000).toBe(expiresAt.getTime());
  const [, life] = /max-age=(\d+)$/.exec(answer.headers.get('cache-control') ?? '') ?? [];
  expect(Number(life)).toBeLessThanOrEqual(Number(/\d+$/.exec(kept)?.[0]));
  expect(Number(life)).toBeGreaterThanOrEqual(Number(/\d+$/.exec(kept)?.[0]) - 30);
  const file = await ask(location.href);
  const [, fileLife] =
    /^public, max-age=(\d+), immutable$/.exec(file.headers.get('cache-control') ?? '') ?? [];
  expect(Number(fileLife)).toBeLessThanOrEqual(seconds);
});

test('it is the same for all learners, absolute behind PUBLIC_URL, and tells nothing of one', async () => {
  const tokens = ['ada', 'ben'].map((learnerId) => buildLearnerToken(version, { learnerId }));
  const [first, second] = await Promise.all(tokens.map((token) => addressOf(token)));
  expect(first).toEqual(second);
  const named = await harness.startApi({ PUBLIC_URL: 'https://lessons.example/lectern' });
  const answer = jsonOf(await ask(named + addressPath(tokens[0] ?? ''))) as ContentAddress;
  expect(answer.base).toBe(`https://lessons.example/lectern${first?.base}`);
});

describe('of several published versions a token', () => {
  test('gets the one that is in play, though another one was published since', async () => {
    const token = buildLearnerToken(version);
    const { version: next } = await build(version.lessonId);
    expect((await addressOf(token)).versionId).toBe(next._id);
    const inPlay = await addressOf(token, `&versionId=${version._id.toUpperCase()}`);
    expect(inPlay.versionId).toBe(version._id);
    expect((await ask(`${api}${inPlay.base}media/${mediaId}`)).status).toBe(302);
  });

  test('that pins one gets no other', async () => {
    const { version: next } = await build(version.lessonId);
    const token = buildLearnerToken(version, { versionId: version._id });
    expect((await addressOf(token)).versionId).toBe(version._id);
    expect((await addressOf(token, `&versionId=${version._id}`)).versionId).toBe(version._id);
    expectError(await ask(api + addressPath(token, `&versionId=${next._id}`)), 404, gone);
  });

  test('gets none that is a draft, unpublished, or of another lesson or organization', async () => {
    const token = buildLearnerToken(version);
    const { path } = await buildPackage({ lessonId: version.lessonId });
    const draft = await buildVersion(harness, organization, path, { publish: false });
    const { version: unpublished } = await build(version.lessonId);
    const { lessonId, _id: versionId } = unpublished;
    await markVersionsUnpublished(harness.db, { lessonId, versionId });
    const { version: other } = await build();
    const theirs = (await build(undefined, (await buildOrganization(harness)).organization)).version;
    for (const _id of [draft._id, versionId, other._id, theirs._id, randomUUID()]) {
      expectError(await ask(api + addressPath(token, `&versionId=${_id}`)), 404, gone);
    }
  });
});

test('invalid requests get the same errors as from the session endpoint', async () => {
  const token = buildLearnerToken(version);
  expectError(await ask(api + addressPath(token).replace(version.lessonId, 'x')), 400, 'Invalid lesson ID');
  expectError(await ask(api + addressPath('')), 400, 'token is required');
  expectError(await ask(api + addressPath(token, '&versionId=x')), 400, 'Invalid version ID');
  expectError(await ask(api + addressPath('x')), 401, 'Token verification failed: Malformed token');
  const { version: other } = await build();
  const message = 'Token does not grant access to this lesson';
  expectError(await ask(api + addressPath(token, '', other)), 403, message);
  expectError(await ask(api + addressPath(token), { method: 'POST' }), 405, 'POST is not allowed here');
});

describe('an address is refused', () => {
  const refused = 'Invalid or expired signature';

  test('when any part of it was changed, or it has expired', async () => {
    const path = `${signed(version)}media/${mediaId}`;
    const { lessonId, _id: versionId } = version;
    const expired = signContentUrl(testAssetSecret, { lessonId, versionId }, { now: Date.now() - 18e6 });
    expect((await ask(api + path)).status).toBe(302);
    for (const bad of [
      path.replace(lessonId, randomUUID()),
      path.replace(versionId, randomUUID()),
      path.replace(/\/(\d{10})\//, (_all, expires: string) => `/${Number(expires) + 3600}/`),
      path.replace(/.(?=\/media)/, (last) => (last === 'A' ? 'E' : 'A')),
      `${expired.url}media/${mediaId}`,
    ]) {
      const answer = await ask(api + bad);
      expectError(answer, 403, refused);
      expect(answer.headers.get('cache-control')).toBe('no-store');
      expect(answer.headers.get('access-control-allow-origin')).toBe('*');
    }
  });

  test('for another version of the lesson, and for media and widgets of others', async () => {
    const { version: next, mediaId: nextMedium } = await build(version.lessonId);
    expectError(await ask(`${api}${signed(version)}media/${nextMedium}`), 404, 'Media file not found');
    expectError(await ask(`${api}${signed(version)}media/x`), 400, 'Invalid media ID');
    expectError(await ask(`${api}${signed(version)}widgets/Video.js`), 404, 'Widget not found');
    const swapped = signed(version).replace(version._id, next._id);
    expectError(await ask(`${api}${swapped}media/${nextMedium}`), 403, refused);
  });

  test('for anything else than media and widgets', async () => {
    const { status } = await ask(`${api}${signed(version)}session`);
    expect(status).toBe(404);
    const posted = await ask(`${api}${signed(version)}media/${mediaId}`, { method: 'POST' });
    expectError(posted, 405, 'POST is not allowed here');
    expect(posted.headers.get('allow')).toBe('GET, HEAD, OPTIONS');
  });

  test('as soon as its version is unpublished', async () => {
    const { lessonId, _id: versionId } = version;
    await build(lessonId);
    await markVersionsUnpublished(harness.db, { lessonId, versionId });
    expectError(await ask(`${api}${signed(version)}media/${mediaId}`), 404, gone);
  });

  test('as soon as its lesson is deleted', async () => {
    await markLessonDeleted(harness.db, version.lessonId);
    expectError(await ask(`${api}${signed(version)}media/${mediaId}`), 404, gone);
  });

  test('as soon as its address has asked too often', async () => {
    const limited = await harness.startApi({ RATE_LIMIT_PER_ADDRESS: '1' });
    const statuses = [];
    for (let count = 0; count < 2; count += 1) {
      statuses.push((await ask(`${limited}${signed(version)}media/${mediaId}`)).status);
    }
    expect(statuses).toEqual([302, 429]);
  });
});
