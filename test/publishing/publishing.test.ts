import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { findPlayedVersion, findPublishedVersion, findVersion } from '../../shared/models/lesson-version.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import type { Organization } from '../../shared/models/organization.ts';
import { deleteLesson, publishVersion, unpublish } from '../../shared/publishing/publishing.ts';
import { bytesOf } from '../../shared/storage/digest.ts';
import { releaseWidget } from '../../shared/widgets/releases.ts';
import { buildOrganization, buildPackage, buildVersion } from '../support/factories.ts';
import { useHarness } from '../support/use.ts';

const harness = useHarness();

const globe = () => [
  { type: 'Globe', props: { id: 'Globe-1' } },
  { type: 'Text', props: { id: 'Text-1', html: '' } },
];

async function buildDraft(overrides: Parameters<typeof buildPackage>[0] = {}) {
  const { organization } = await buildOrganization(harness);
  const { path } = await buildPackage(overrides);
  const version = await buildVersion(harness, organization, path, { publish: false });
  return { organization, path, version };
}

async function releaseGlobe(organizationId: string, js: string): Promise<string> {
  const widget = { organizationId, type: 'Globe', js: bytesOf(Buffer.from(js)), css: null };
  return (await releaseWidget(harness.db, harness.store, widget)).widgetId;
}

function publish(versionId: string) {
  return publishVersion(harness.db, harness.store, versionId, { force: false });
}

describe('publishing pins widgets', () => {
  test('those of core types, and the newest of the organization; types without a release stay open', async () => {
    const { organization, version } = await buildDraft({
      blocks: () => [...globe(), { type: 'Unknown', props: { id: 'Unknown-1' } }],
    });
    await releaseGlobe(organization._id, 'old');
    const newest = await releaseGlobe(organization._id, 'new');
    const { widgets } = await publish(version._id);
    expect(widgets).toStrictEqual([
      { type: 'Globe', widgetId: newest },
      { type: 'Text', widgetId: expect.stringMatching(/^text-[0-9a-f]{8}$/) as string },
    ]);
  });

  test('permanently: a version that is published again keeps its releases', async () => {
    const { organization, version } = await buildDraft({ blocks: globe });
    await releaseGlobe(organization._id, 'old');
    const first = await publish(version._id);
    await releaseGlobe(organization._id, 'new');
    expect(await publish(version._id)).toStrictEqual(first);

    await unpublish(harness.db, version.lessonId);
    const again = await publish(version._id);
    expect(again.widgets).toStrictEqual(first.widgets);
    expect(Number(again.publishedAt)).toBeGreaterThan(Number(first.publishedAt));
  });
});

test('concurrent publications of a version all return the same published version', async () => {
  const { version } = await buildDraft({ blocks: globe });
  const published = await Promise.all(Array.from({ length: 8 }, () => publish(version._id)));
  const stored = await findVersion(harness.db, version._id);
  expect(stored?.status).toBe('published');
  for (const each of published) expect(each).toStrictEqual(stored);
});

test('a version that does not exist cannot be published', async () => {
  await expect(publish(randomUUID())).rejects.toMatchObject({ code: 'NOT_FOUND' });
});

test('unpublish affects one version or all, and returns their number', async () => {
  const { organization, path, version } = await buildDraft();
  await publish(version._id);
  const second = await buildVersion(harness, organization, path);
  const third = await buildVersion(harness, organization, path);
  expect(await unpublish(harness.db, version.lessonId, second._id)).toBe(1);
  expect((await findVersion(harness.db, third._id))?.status).toBe('published');
  expect(await unpublish(harness.db, version.lessonId)).toBe(2);
  expect(await unpublish(harness.db, version.lessonId)).toBe(0);
});

test('a deleted lesson that is imported again has only the new version published', async () => {
  const { organization, path, version } = await buildDraft();
  const { lessonId } = await publish(version._id);
  expect(await deleteLesson(harness.db, lessonId)).toBe(true);
  expect(await deleteLesson(harness.db, lessonId)).toBe(false);
  const restored = await buildVersion(harness, organization, path);
  expect(restored.versionNumber).toBe(2);
  const find = (versionId: string) => findPublishedVersion(harness.db, organization._id, lessonId, versionId);
  expect(await find(version._id)).toBeNull();
  expect(await find(restored._id)).toStrictEqual(restored);
});

/** Publishes a lesson many times; returns the version that is played. */
async function buildOftenPublished(organization: Organization): Promise<LessonVersion> {
  const first = await buildVersion(harness, organization, (await buildPackage()).path);
  const later = Array.from({ length: 100 }, (_, index) => ({
    ...first,
    _id: randomUUID(),
    versionNumber: first.versionNumber + 1 + index,
    // Of two versions with the same time, the higher number counts.
    publishedAt: new Date(Number(first.publishedAt) + 1000 * Math.floor(index / 2)),
  }));
  await harness.db.lessonVersions.insertMany(later);
  return later.at(-1) ?? first;
}

test('a played version is found without reading the others of a lesson that was published often', async () => {
  const { db } = harness.db.connection;
  if (db === undefined) throw new Error('not connected');
  const { organization } = await buildOrganization(harness);
  const lessons = [await buildOftenPublished(organization), await buildOftenPublished(organization)];
  await db.command({ profile: 2 });
  const played = await Promise.all(
    lessons.map(({ lessonId }) => findPlayedVersion(harness.db, organization._id, lessonId, null)),
  );
  await db.command({ profile: 0 });
  expect(played.map((version) => version?._id)).toEqual(lessons.map(({ _id }) => _id));
  const queries = await db
    .collection('system.profile')
    .find({ ns: `${db.databaseName}.lessonVersions` })
    .toArray();
  // One batched query reads one version of each lesson.
  expect(queries.map(({ docsExamined }) => docsExamined as unknown)).toEqual([lessons.length]);
});
