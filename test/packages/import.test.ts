import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { findContent } from '../../shared/models/lesson-content.ts';
import { findLesson } from '../../shared/models/lesson.ts';
import { listMediaOfVersion } from '../../shared/models/medium.ts';
import type { Organization } from '../../shared/models/organization.ts';
import { mediaReferences } from '../../shared/lessons/media-references.ts';
import { deleteLesson, publishVersion } from '../../shared/publishing/publishing.ts';
import { digestOf } from '../../shared/storage/digest.ts';
import { buildOrganization, buildPackage } from '../support/factories.ts';
import { startHarness } from '../support/harness.ts';
import type { Harness } from '../support/harness.ts';
import { changeJson, importInto, picture } from './import-support.ts';

let harness: Harness;
let organization: Organization;
beforeAll(async () => {
  harness = await startHarness();
});
beforeEach(async () => {
  ({ organization } = await buildOrganization(harness));
});
afterAll(() => harness.close());

describe('ids and numbers', () => {
  test('a new lesson keeps the ids and the version number of its package, as a draft', async () => {
    const { path, lessonId, versionId } = await buildPackage();
    await changeJson(path, 'manifest.json', (manifest) => {
      manifest.versionNumber = 7;
    });
    const { version } = await importInto(harness, organization, path);
    expect(version).toMatchObject({
      _id: versionId,
      lessonId,
      versionNumber: 7,
      status: 'draft',
      publishedAt: null,
    });
    expect(await findLesson(harness.db, lessonId)).toMatchObject({ slug: 'a-lesson', deletedAt: null });
  });

  test('importing the same package again creates the next version, with its own id', async () => {
    const { path, lessonId, versionId, mediaIds } = await buildPackage({ media: [picture(1)] });
    await importInto(harness, organization, path);
    const { version } = await importInto(harness, organization, path);
    expect(version).toMatchObject({ lessonId, versionNumber: 2 });
    expect(version._id).not.toBe(versionId);
    expect((await listMediaOfVersion(harness.db, version._id)).map(({ mediaId }) => mediaId)).toEqual(
      mediaIds,
    );
  });

  test('a package of another version of the lesson keeps its version id, and the lesson gets its title', async () => {
    const { path, lessonId } = await buildPackage();
    await importInto(harness, organization, path);
    const secondId = randomUUID();
    await changeJson(path, 'manifest.json', (manifest) => {
      manifest.versionId = secondId;
    });
    await changeJson(path, 'lesson.json', ({ lesson }) => {
      lesson.title = 'A better title';
      lesson.slug = 'a-better-slug';
    });
    const { version } = await importInto(harness, organization, path);
    expect(version).toMatchObject({ _id: secondId, versionNumber: 2, slug: 'a-better-slug' });
    expect(await findLesson(harness.db, lessonId)).toMatchObject({
      title: 'A better title',
      slug: 'a-better-slug',
    });
  });

  test('concurrent imports of one new lesson all succeed, each with its own number and id', async () => {
    const { path, lessonId } = await buildPackage({ media: [picture(1), picture(2)] });
    const imported = await Promise.all(
      Array.from({ length: 24 }, () => importInto(harness, organization, path)),
    );
    const numbers = imported.map(({ version }) => version.versionNumber).sort((a, b) => a - b);
    expect(numbers).toEqual(Array.from({ length: 24 }, (_, index) => index + 1));
    expect(new Set(imported.map(({ version }) => version._id)).size).toBe(24);
    for (const { version } of imported) {
      expect(await findContent(harness.db, version._id)).toMatchObject({ lesson: { id: lessonId } });
      expect((await listMediaOfVersion(harness.db, version._id)).length).toBe(2);
    }
  });

  test('an import after the largest version number is rejected with advice', async () => {
    const { path } = await buildPackage();
    await changeJson(path, 'manifest.json', (manifest) =>
      Object.assign(manifest, { versionNumber: 999_999 }),
    );
    await importInto(harness, organization, path);
    await expect(importInto(harness, organization, path)).rejects.toThrow(/999999.*--as-new/);
    await changeJson(path, 'manifest.json', (manifest) =>
      Object.assign(manifest, { versionNumber: 1_000_000 }),
    );
    await expect(importInto(harness, organization, path)).rejects.toThrow('must be at most 999999');
  });

  test('importing a deleted lesson restores it with the imported version, and the others stay unpublished', async () => {
    const { path, lessonId } = await buildPackage();
    const first = await importInto(harness, organization, path);
    await publishVersion(harness.db, harness.store, first.version._id, { force: false });
    await deleteLesson(harness.db, lessonId);
    await importInto(harness, organization, path);
    expect(await findLesson(harness.db, lessonId)).toMatchObject({ deletedAt: null });
    const versions = await harness.db.lessonVersions
      .find({ lessonId })
      .sort({ versionNumber: 1 })
      .lean()
      .exec();
    expect(versions.map(({ status }) => status)).toEqual(['unpublished', 'draft']);
  });
});

describe('a copy (--as-new)', () => {
  test('keeps the ids of media that are missing from the package but exist in the organization', async () => {
    const { mediaIds } = await buildPackage({ media: [picture(7)] }).then(async (built) => {
      await importInto(harness, organization, built.path);
      return built;
    });
    const src = `media:${mediaIds[0]}`;
    const image = { type: 'Image', props: { id: 'Image-1', src, alt: '', caption: '' } };
    const { path } = await buildPackage({ blocks: () => [image] });
    const { version } = await importInto(harness, organization, path, { asNew: true });
    expect(mediaReferences(await findContent(harness.db, version._id))).toEqual(mediaIds);
  });

  test('gets new ids for lesson, version and media, and references its own media', async () => {
    const { path, lessonId, versionId, mediaIds } = await buildPackage({
      media: [picture(1), picture(2)],
      blocks: ([one, two]) => [
        { type: 'Image', props: { id: 'Image-1', src: `media:${one}`, alt: '', caption: '' } },
        { type: 'Text', props: { id: 'Text-1', html: `<img src="./media/${two}.png"> and media:${one}` } },
      ],
    });
    await importInto(harness, organization, path);
    const { version } = await importInto(harness, organization, path, { asNew: true });
    expect(version.lessonId).not.toBe(lessonId);
    expect(version._id).not.toBe(versionId);
    expect(version.versionNumber).toBe(1);

    const content = await findContent(harness.db, version._id);
    const copied = await listMediaOfVersion(harness.db, version._id);
    expect(content?.lesson.id).toBe(version.lessonId);
    expect(mediaReferences(content)).toEqual(copied.map(({ mediaId }) => mediaId).sort());
    for (const { mediaId } of copied) expect(mediaIds).not.toContain(mediaId);
    const digests = copied.map(({ asset }) => asset?.sha256).sort();
    expect(digests).toEqual([1, 2].map((seed) => digestOf(picture(seed).bytes).sha256).sort());
  });

  test("keeps the package's credits under the new ids", async () => {
    const attribution = {
      text: 'By someone',
      url: 'https://example.org/a',
      portfolioUrl: 'https://example.org',
    };
    const { path } = await buildPackage({ media: [{ ...picture(1), attribution }, picture(2)] });
    const { version } = await importInto(harness, organization, path, { asNew: true });
    const media = await listMediaOfVersion(harness.db, version._id);
    const credited = media.filter(({ attributions }) => attributions.length > 0);
    expect(credited).toMatchObject([{ attributions: [attribution], asset: digestOf(picture(1).bytes) }]);
  });

  test('can be made by another organization of a lesson it may not import', async () => {
    const { path } = await buildPackage();
    await importInto(harness, organization, path);
    const { organization: other } = await buildOrganization(harness);
    await expect(importInto(harness, other, path)).rejects.toThrow('another organization');
    const { version } = await importInto(harness, other, path, { asNew: true });
    expect(version.organizationId).toBe(other._id);
  });
});

test('progress is reported file by file, to the last', async () => {
  const { path } = await buildPackage({ media: [1, 2, 3].map(picture) });
  const told: unknown[] = [];
  await importInto(harness, organization, path, { onProgress: (progress) => told.push(progress) });
  expect(told).toEqual([1, 2, 3].map((done) => ({ done, total: 3, bytes: 1000 * done })));
});
