import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import type { Organization } from '../../shared/models/organization.ts';
import { deleteLesson, unpublish } from '../../shared/publishing/publishing.ts';
import { digestOf } from '../../shared/storage/digest.ts';
import { png } from '../exports/pictures.ts';
import {
  buildLaunchToken,
  buildLearnerToken,
  buildOrganization,
  buildPackage,
  buildVersion,
} from '../support/factories.ts';
import type { BuiltMedium } from '../support/factories.ts';
import { startHarness } from '../support/harness.ts';
import type { Harness } from '../support/harness.ts';
import { ask, expectError } from '../support/answers.ts';
import { follow, mediumPath } from '../player/player-files.ts';

let harness: Harness;
let api: string;
let organization: Organization;
beforeAll(async () => {
  harness = await startHarness();
  api = await harness.startApi();
  organization = (await buildOrganization(harness)).organization;
});
afterAll(() => harness.close());

async function build(
  medium: BuiltMedium,
  { owner = organization, lessonId = randomUUID(), referTo = [] as string[] } = {},
): Promise<{ version: LessonVersion; mediaId: string }> {
  const built = await buildPackage({
    media: [medium],
    lessonId,
    blocks: (ids) =>
      [...ids, ...referTo].map((id, index) => ({
        type: 'Image',
        props: { id: `Image-${index}`, src: `media:${id}` },
      })),
  });
  const version = await buildVersion(harness, owner, built.path);
  return { version, mediaId: built.mediaIds[0] ?? '' };
}

test('a medium is a redirect to an address that needs no token, to be kept for less than that lives', async () => {
  const { version, mediaId } = await build({ bytes: png(1) });
  const { status, headers, body } = await ask(api + mediumPath(version, mediaId));
  expect([status, body.length]).toEqual([302, 0]);
  const location = headers.get('location') ?? '';
  expect(location).toMatch(/^\/assets\/v1\/assets\/[0-9a-f]{64}\/\d+\/image\/png\//);
  expect(location).not.toContain('token');
  expect(headers.get('cache-control')).toBe('private, max-age=1800');
  const lifetime = Number(/expires=(\d+)/.exec(location)?.[1]) - Date.now() / 1000;
  expect(lifetime).toBeGreaterThan(1800 + 1000);

  const file = await ask(api + location);
  expect(file.body.equals(png(1))).toBe(true);
  expect(file.headers.get('content-type')).toBe('image/png');
});

test('whoever asks for a medium is sent to the same address, so that caches know it again', async () => {
  const { version, mediaId } = await build({ bytes: png(2) });
  const tokens = [
    buildLearnerToken(version, { learnerId: 'learner-1' }),
    buildLearnerToken(version, { learnerId: 'learner-2' }),
    buildLaunchToken(version),
  ];
  const places = tokens.map(async (token) => {
    const path = `/api/public/lessons/${version.lessonId}/media/${mediaId.toUpperCase()}?token=${token}`;
    return (await ask(api + path)).headers.get('location')?.replace(/\?.*/, '');
  });
  expect(new Set(await Promise.all(places))).toEqual(
    new Set([expect.stringContaining(digestOf(png(2)).sha256)]),
  );
});

test('behind PUBLIC_URL the redirect goes to the public address', async () => {
  const { version, mediaId } = await build({ bytes: png(3) });
  const publicApi = await harness.startApi({ PUBLIC_URL: 'https://lectern.example/here/' });
  const { headers } = await ask(publicApi + mediumPath(version, mediaId));
  const location = headers.get('location') ?? '';
  expect(location.startsWith('https://lectern.example/here/assets/v1/')).toBe(true);
  const served = await ask(publicApi + location.replace('https://lectern.example/here', ''));
  expect(served.body.equals(png(3))).toBe(true);
});

test('two organizations that have a medium of the same id get their own', async () => {
  const id = randomUUID();
  const theirs = (await buildOrganization(harness)).organization;
  const first = await build({ id, bytes: png(4) });
  const second = await build({ id, bytes: png(5) }, { owner: theirs });
  expect((await follow(api, mediumPath(first.version, id))).body.equals(png(4))).toBe(true);
  expect((await follow(api, mediumPath(second.version, id))).body.equals(png(5))).toBe(true);
});

describe('the versions of a lesson', () => {
  test('each give their own file of a medium that was replaced, and a token without a version the newest', async () => {
    const [id, lessonId] = [randomUUID(), randomUUID()];
    const first = await build({ id, bytes: png(6) }, { lessonId });
    const second = await build({ id, bytes: png(7) }, { lessonId });
    expect((await follow(api, mediumPath(first.version, id))).body.equals(png(6))).toBe(true);
    expect((await follow(api, mediumPath(second.version, id))).body.equals(png(7))).toBe(true);
    const token = buildLearnerToken(first.version);
    const newest = `/api/public/lessons/${lessonId}/media/${id}?token=${token}`;
    expect((await follow(api, newest)).body.equals(png(7))).toBe(true);
  });

  test('do not give a medium that only another one has', async () => {
    const lessonId = randomUUID();
    const first = await build({ bytes: png(8) }, { lessonId });
    const second = await build({ bytes: png(9) }, { lessonId });
    const path = mediumPath(second.version, first.mediaId);
    expectError(await ask(api + path), 404, 'Media file not found');
  });

  test('give a medium that another one brought where their own content refers to it', async () => {
    const first = await build({ bytes: png(10) });
    const second = await build({ bytes: png(11) }, { referTo: [first.mediaId] });
    const { body } = await follow(api, mediumPath(second.version, first.mediaId));
    expect(body.equals(png(10))).toBe(true);
  });
});

describe('404 is', () => {
  test('a medium of another lesson, and one of another organization that the content refers to', async () => {
    const theirs = (await buildOrganization(harness)).organization;
    const foreign = await build({ bytes: png(12) }, { owner: theirs });
    const other = await build({ bytes: png(13) });
    const { version } = await build({ bytes: png(14) }, { referTo: [foreign.mediaId] });
    for (const id of [foreign.mediaId, other.mediaId, randomUUID()])
      expectError(await ask(api + mediumPath(version, id)), 404, 'Media file not found');
  });

  test('a medium whose file is gone from the store', async () => {
    const { version, mediaId } = await build({ bytes: png(15) });
    await harness.store.assets.delete(digestOf(png(15)).sha256);
    expectError(await ask(api + mediumPath(version, mediaId)), 404, 'Media file not available');
  });

  test('every medium of a deleted lesson, and of a version that was unpublished', async () => {
    const deleted = await build({ bytes: png(16) });
    const unpublished = await build({ bytes: png(17) });
    await deleteLesson(harness.db, deleted.version.lessonId);
    await unpublish(harness.db, unpublished.version.lessonId);
    for (const { version, mediaId } of [deleted, unpublished])
      expectError(await ask(api + mediumPath(version, mediaId)), 404, 'Lesson not found or access denied');
  });
});

test('errors come in the documented order, are readable by pages of every origin, and are never cached', async () => {
  const { version, mediaId } = await build({ bytes: png(18) });
  const { lessonId } = version;
  const token = buildLearnerToken(version);
  const elsewhere = randomUUID();
  const nowhere = buildLearnerToken({ ...version, lessonId: elsewhere });
  const rows: [string, number, string][] = [
    ['/api/public/lessons/x/media/x', 400, 'Invalid lesson ID'],
    [`/api/public/lessons/${lessonId}/media/x`, 400, 'token is required'],
    [`/api/public/lessons/${lessonId}/media/x?token=`, 400, 'token is required'],
    [`/api/public/lessons/${lessonId}/media/x?token=a&token=b`, 400, 'token is required'],
    [
      `/api/public/lessons/${lessonId}/media/x?token=a.b.c`,
      401,
      'Token verification failed: Malformed token',
    ],
    [
      `/api/public/lessons/${elsewhere}/media/x?token=${token}`,
      403,
      'Token does not grant access to this lesson',
    ],
    [`/api/public/lessons/${elsewhere}/media/x?token=${nowhere}`, 404, 'Lesson not found or access denied'],
    [`/api/public/lessons/${lessonId}/media/x?token=${token}`, 400, 'Invalid media ID'],
    [`/api/public/lessons/${lessonId}/media/${randomUUID()}?token=${token}`, 404, 'Media file not found'],
  ];
  for (const [path, status, error] of rows) {
    const answer = await ask(api + path);
    expectError(answer, status, error);
    expect(answer.headers.get('access-control-allow-origin')).toBe('*');
    expect(answer.headers.get('cache-control')).toBe('no-store');
  }
  const good = `/api/public/lessons/${lessonId}/media/${mediaId}?token=${token}`;
  expect((await ask(api + good)).headers.get('access-control-allow-origin')).toBe('*');
});

test('OPTIONS names what is allowed, HEAD does as GET, and any other method is 405', async () => {
  const { version, mediaId } = await build({ bytes: png(19) });
  const address = api + mediumPath(version, mediaId);
  const options = await ask(address.replace(/\?.*/, ''), { method: 'OPTIONS' });
  expect([options.status, options.headers.get('access-control-allow-methods')]).toEqual([
    204,
    'GET, HEAD, OPTIONS',
  ]);
  const head = await ask(address, { method: 'HEAD' });
  expect([head.status, head.headers.get('location')]).toEqual([
    302,
    (await ask(address)).headers.get('location'),
  ]);
  const refused = await ask(address, { method: 'POST' });
  expectError(refused, 405, 'POST is not allowed here');
  expect(refused.headers.get('allow')).toBe('GET, HEAD, OPTIONS');
});
