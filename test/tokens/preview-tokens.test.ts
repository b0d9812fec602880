import { beforeAll, describe, expect, test } from 'vitest';
import type { Organization } from '../../shared/models/organization.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { markVersionsUnpublished } from '../../shared/models/lesson-version.ts';
import { revokeTokens } from '../../shared/models/token-revocation.ts';
import { deleteLesson, preparePreview } from '../../shared/publishing/publishing.ts';
import {
  buildLearnerToken,
  buildOrganization,
  buildPackage,
  buildPreviewToken,
  buildVersion,
} from '../support/factories.ts';
import { ask, expectError, jsonOf } from '../support/answers.ts';
import { bootOf, embedPath, expectFailurePage } from '../embed/embed-pages.ts';
import { follow } from '../player/player-files.ts';
import { Player } from '../player/player-lessons.ts';
import { useApi } from '../support/use.ts';
import { testPepper } from '../support/harness.ts';

const api = useApi();
let organization: Organization;
beforeAll(async () => {
  ({ organization } = await buildOrganization(api));
});

const picture = Buffer.from('GIF89a\u0001\u0000\u0001\u0000\u0000\u0000\u0000, a picture', 'latin1');

/** A lesson with a published version and a draft of the next one, which has a picture. */
async function buildLesson(): Promise<{ published: LessonVersion; draft: LessonVersion; mediaId: string }> {
  const { path, lessonId } = await buildPackage();
  const published = await buildVersion(api, organization, path);
  const next = await buildPackage({
    lessonId,
    lesson: { title: 'A draft' },
    media: [{ bytes: picture, mimeType: 'image/gif', extension: 'gif' }],
  });
  const draft = await buildVersion(api, organization, next.path, { publish: false });
  await preparePreview(api.db, api.store, draft._id);
  return { published, draft, mediaId: next.mediaIds[0] ?? '' };
}

const pathOf = (version: LessonVersion, name: string, token: string) =>
  `${api.url}/api/public/lessons/${version.lessonId}/${name}?token=${token}`;

describe('a preview token', () => {
  test('opens a draft: its page, its data, and its media and widgets with both kinds of URLs', async () => {
    const { draft, mediaId } = await buildLesson();
    const token = buildPreviewToken(draft);
    const boot = bootOf(await ask(api.url + embedPath(draft, token)));
    expect(boot).toMatchObject({
      page: 'lesson',
      versionId: draft._id,
      untracked: 'authorPreview',
      launch: null,
      session: { learnerId: '', status: 'not_started' },
    });
    const data = jsonOf(await ask(pathOf(draft, 'player-data', token)));
    expect(data).toMatchObject({ lesson: { lesson: { title: 'A draft', status: 'draft' } } });

    const { base, expiresAt } = boot.content as { base: string; expiresAt: string };
    expect(expiresAt).toBe((boot.token as { expiresAt: string }).expiresAt);
    expect(Date.parse(expiresAt) - Date.now()).toBeLessThanOrEqual(3_600_000);
    for (const [signed, direct] of [
      [`media/${mediaId}`, `media/${mediaId}`],
      ['widgets/Heading.js', 'widgets/Heading.js'],
    ] as const) {
      expect((await follow(api.url, base + signed)).status).toBe(200);
      const led = await ask(pathOf(draft, direct, token));
      expect(led.status).toBe(302);
    }
    const { base: renewed } = jsonOf(await ask(pathOf(draft, 'content', token))) as { base: string };
    expect((await follow(api.url, `${renewed}media/${mediaId}`)).body.equals(picture)).toBe(true);
  });

  test('pins its version, even a published one after a later publication', async () => {
    const { published, draft } = await buildLesson();
    const token = buildPreviewToken(published);
    await api.db.lessonVersions.updateOne(
      { _id: draft._id },
      { status: 'published', publishedAt: new Date() },
    );
    expect(bootOf(await ask(api.url + embedPath(published, token)))).toMatchObject({
      versionId: published._id,
    });
    expectError(
      await ask(`${pathOf(published, 'content', token)}&versionId=${draft._id}`),
      404,
      'Lesson not found or access denied',
    );
  });

  test('records nothing: writes are rejected, and there is neither a record nor a score', async () => {
    const { draft, published } = await buildLesson();
    for (const version of [draft, published]) {
      const player = new Player(api.url, version, buildPreviewToken(version));
      expect(await player.read()).toMatchObject({ status: 'not_started', versionId: version._id });
      expectError(await player.tell({ currentStepIndex: 0 }), 403, 'A preview token records nothing');
    }
    const { embedProgress, ltiProgress, ltiScores, courses } = api.db;
    const counts = [embedProgress, ltiProgress, ltiScores, courses].map((model) => model.countDocuments());
    expect(await Promise.all(counts)).toEqual([0, 0, 0, 0]);
  });

  test('ends when its version is unpublished, deleted, revoked, expired, or of another organization', async () => {
    const [one, two, three, four] = [
      await buildLesson(),
      await buildLesson(),
      await buildLesson(),
      await buildLesson(),
    ];
    const page = (version: LessonVersion, token = buildPreviewToken(version)) =>
      ask(api.url + embedPath(version, token));
    const { base } = bootOf(await page(one.published)).content as { base: string };
    await markVersionsUnpublished(api.db, { lessonId: one.published.lessonId });
    expectFailurePage(await page(one.published), 404, 'not_available');
    expectError(await ask(`${api.url}${base}widgets/Heading.js`), 404, 'Lesson not found or access denied');

    await deleteLesson(api.db, two.draft.lessonId);
    expectFailurePage(await page(two.draft), 404, 'not_available');

    const revoked = { organizationId: organization._id, lessonId: three.draft.lessonId, learnerId: null };
    await revokeTokens(api.db, testPepper, revoked, new Date(Date.now() + 1000));
    expectFailurePage(await page(three.draft), 401, 'token_revoked');

    const elsewhere = { ...four.draft, organizationId: 'another' };
    expectFailurePage(await page(four.draft, buildPreviewToken(elsewhere)), 404, 'not_available');
    const otherLesson = { ...four.draft, lessonId: one.draft.lessonId };
    expectFailurePage(await page(otherLesson, buildPreviewToken(otherLesson)), 404, 'not_available');
  });
});

test('neither other tokens that name a draft nor content URLs of the published version open it', async () => {
  const { draft, published, mediaId } = await buildLesson();
  const token = buildLearnerToken(draft, { versionId: draft._id });
  expectFailurePage(await ask(api.url + embedPath(draft, token)), 404, 'not_available');
  for (const name of ['player-data', 'session', 'content', `media/${mediaId}`]) {
    expectError(await ask(pathOf(draft, name, token)), 404, 'Lesson not found or access denied');
  }
  const { base } = bootOf(await ask(api.url + embedPath(published))).content as { base: string };
  const forged = base.replace(published._id, draft._id);
  expectError(await ask(`${api.url}${forged}media/${mediaId}`), 403, 'Invalid or expired signature');
});

test('a draft that cannot be played gets the error page', async () => {
  const { path } = await buildPackage({ sections: [] });
  const draft = await buildVersion(api, organization, path, { publish: false });
  const token = buildPreviewToken(draft);
  expectFailurePage(await ask(api.url + embedPath(draft, token)), 422, 'not_playable', token);
});
