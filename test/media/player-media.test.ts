import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { deleteLesson, unpublish } from '../../shared/publishing/publishing.ts';
import { digestOf } from '../../shared/storage/digest.ts';
import { png } from '../exports/pictures.ts';
import { follow, mediumPath } from '../player/player-files.ts';
import { ask, expectError } from '../support/answers.ts';
import {
  buildLaunchToken,
  buildLearnerToken,
  buildOrganization,
  buildPackage,
  buildVersion,
} from '../support/factories.ts';
import type { BuiltMedium } from '../support/factories.ts';
import { useApi } from '../support/use.ts';

const api = useApi();

interface Built {
  version: LessonVersion;
  mediaId: string;
  /** The URL of the medium for players of the version. */
  url: string;
}

async function build(
  medium: BuiltMedium,
  { owner = api.organization, lessonId = randomUUID(), referTo = [] as string[] } = {},
): Promise<Built> {
  const built = await buildPackage({
    media: [medium],
    lessonId,
    blocks: (ids) =>
      [...ids, ...referTo].map((id, index) => ({
        type: 'Image',
        props: { id: `Image-${index}`, src: `media:${id}` },
      })),
  });
  const version = await buildVersion(api, owner, built.path);
  const [mediaId = ''] = built.mediaIds;
  return { version, mediaId, url: api.url + mediumPath(version, mediaId) };
}

async function expectPicture(path: string, picture: Buffer): Promise<void> {
  expect((await follow(api.url, path)).body.equals(picture)).toBe(true);
}

test('a medium redirects to a URL without a token, which outlives the cached redirect', async () => {
  const { url } = await build({ bytes: png(1) });
  const { status, headers, body } = await ask(url);
  expect([status, body.length]).toEqual([302, 0]);
  const location = headers.get('location') ?? '';
  expect(location).toMatch(/^\/assets\/v1\/assets\/[0-9a-f]{64}\/\d+\/image\/png\//);
  expect(location).not.toContain('token');
  expect(headers.get('cache-control')).toBe('private, max-age=1800');
  const lifetimeSeconds = Number(/expires=(\d+)/.exec(location)?.[1]) - Date.now() / 1000;
  expect(lifetimeSeconds).toBeGreaterThan(1800 + 1000);

  const file = await ask(api.url + location);
  expect(file.body.equals(png(1))).toBe(true);
  expect(file.headers.get('content-type')).toBe('image/png');
});

test('all learners are redirected to the same URL, so that caches recognize the file', async () => {
  const { version, mediaId } = await build({ bytes: png(2) });
  const tokens = [
    buildLearnerToken(version, { learnerId: 'learner-1' }),
    buildLearnerToken(version, { learnerId: 'learner-2' }),
    buildLaunchToken(version),
  ];
  const paths = tokens.map(async (token) => {
    const path = `/api/public/lessons/${version.lessonId}/media/${mediaId.toUpperCase()}?token=${token}`;
    return (await ask(api.url + path)).headers.get('location')?.replace(/\?.*/, '');
  });
  expect(new Set(await Promise.all(paths))).toEqual(
    new Set([expect.stringContaining(digestOf(png(2)).sha256)]),
  );
});

test('with PUBLIC_URL redirects lead to the public URL', async () => {
  const { version, mediaId } = await build({ bytes: png(3) });
  const publicApi = await api.startApi({ PUBLIC_URL: 'https://lectern.example/here/' });
  const { headers } = await ask(publicApi + mediumPath(version, mediaId));
  const location = headers.get('location') ?? '';
  expect(location.startsWith('https://lectern.example/here/assets/v1/')).toBe(true);
  const served = await ask(publicApi + location.replace('https://lectern.example/here', ''));
  expect(served.body.equals(png(3))).toBe(true);
});

test('organizations and versions with the same media id get their own files, unpinned tokens the newest', async () => {
  const [id, lessonId] = [randomUUID(), randomUUID()];
  const first = await build({ id, bytes: png(4) }, { lessonId });
  const second = await build({ id, bytes: png(5) }, { lessonId });
  const { organization: owner } = await buildOrganization(api);
  const foreign = await build({ id, bytes: png(6) }, { owner });
  await expectPicture(mediumPath(first.version, id), png(4));
  await expectPicture(mediumPath(second.version, id), png(5));
  await expectPicture(mediumPath(foreign.version, id), png(6));
  const token = buildLearnerToken(first.version);
  await expectPicture(`/api/public/lessons/${lessonId}/media/${id}?token=${token}`, png(5));
});

test('a version serves media of other versions of its organization only if its content refers to them', async () => {
  const lessonId = randomUUID();
  const other = await build({ bytes: png(8) }, { lessonId });
  const { organization: owner } = await buildOrganization(api);
  const foreign = await build({ bytes: png(9) }, { owner });
  const plain = await build({ bytes: png(10) }, { lessonId });
  const referring = await build({ bytes: png(11) }, { referTo: [other.mediaId, foreign.mediaId] });
  await expectPicture(mediumPath(referring.version, other.mediaId), png(8));
  for (const [version, id] of [
    [plain.version, other.mediaId],
    [referring.version, foreign.mediaId],
    [referring.version, plain.mediaId],
    [referring.version, randomUUID()],
  ] as const)
    expectError(await ask(api.url + mediumPath(version, id)), 404, 'Media file not found');
});

test('missing files, deleted lessons and unpublished versions get 404', async () => {
  const missing = await build({ bytes: png(15) });
  const deleted = await build({ bytes: png(16) });
  const unpublished = await build({ bytes: png(17) });
  await api.store.assets.delete(digestOf(png(15)).sha256);
  await deleteLesson(api.db, deleted.version.lessonId);
  await unpublish(api.db, unpublished.version.lessonId);
  expectError(await ask(missing.url), 404, 'Media file not available');
  for (const { url } of [deleted, unpublished])
    expectError(await ask(url), 404, 'Lesson not found or access denied');
});

test('errors have the documented order, are readable by scripts of every origin, and are never cached', async () => {
  const { version, url } = await build({ bytes: png(18) });
  const { lessonId } = version;
  const token = buildLearnerToken(version);
  const other = randomUUID();
  const otherToken = buildLearnerToken({ ...version, lessonId: other });
  const rows: [string, number, string][] = [
    ['x/media/x', 400, 'Invalid lesson ID'],
    [`${lessonId}/media/x`, 400, 'token is required'],
    [`${lessonId}/media/x?token=`, 400, 'token is required'],
    [`${lessonId}/media/x?token=a&token=b`, 400, 'token is required'],
    [`${lessonId}/media/x?token=a.b.c`, 401, 'Token verification failed: Malformed token'],
    [`${other}/media/x?token=${token}`, 403, 'Token does not grant access to this lesson'],
    [`${other}/media/x?token=${otherToken}`, 404, 'Lesson not found or access denied'],
    [`${lessonId}/media/x?token=${token}`, 400, 'Invalid media ID'],
    [`${lessonId}/media/${randomUUID()}?token=${token}`, 404, 'Media file not found'],
  ];
  for (const [path, status, error] of rows) {
    const answer = await ask(`${api.url}/api/public/lessons/${path}`);
    expectError(answer, status, error);
    expect(answer.headers.get('access-control-allow-origin')).toBe('*');
    expect(answer.headers.get('cache-control')).toBe('no-store');
  }
  expect((await ask(url)).headers.get('access-control-allow-origin')).toBe('*');
});

test('OPTIONS lists the methods, HEAD equals GET, and other methods get 405', async () => {
  const { url } = await build({ bytes: png(19) });
  const options = await ask(url.replace(/\?.*/, ''), { method: 'OPTIONS' });
  expect(options.status).toBe(204);
  expect(options.headers.get('access-control-allow-methods')).toBe('GET, HEAD, OPTIONS');
  const [head, get] = [await ask(url, { method: 'HEAD' }), await ask(url)];
  expect([head.status, head.headers.get('location')]).toEqual([302, get.headers.get('location')]);
  const posted = await ask(url, { method: 'POST' });
  expectError(posted, 405, 'POST is not allowed here');
  expect(posted.headers.get('allow')).toBe('GET, HEAD, OPTIONS');
});
