import { randomUUID } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { findContent } from '../../shared/models/lesson-content.ts';
import { findLesson } from '../../shared/models/lesson.ts';
import { findMedia, listMediaOfVersion } from '../../shared/models/medium.ts';
import type { Organization } from '../../shared/models/organization.ts';
import type { ImportOptions } from '../../shared/packages/import.ts';
import { mediaReferences } from '../../shared/lessons/media-references.ts';
import { deleteLesson, publishVersion } from '../../shared/publishing/publishing.ts';
import { digestOf } from '../../shared/storage/digest.ts';
import { png } from '../exports/pictures.ts';
import { buildOrganization, buildPackage } from '../support/factories.ts';
import { useHarness } from '../support/use.ts';
import { changeJson, importInto, picture } from './import-support.ts';

const harness = useHarness();
let organization: Organization;
beforeEach(async () => {
  ({ organization } = await buildOrganization(harness));
});
const doImport = (path: string, options?: Partial<ImportOptions>) =>
  importInto(harness, organization, path, options);

describe('ids and numbers', () => {
  test('a new lesson keeps the ids and the version number of its package, as a draft', async () => {
    const { path, lessonId, versionId } = await buildPackage();
    await changeJson(path, 'manifest.json', (manifest) => {
      manifest.versionNumber = 7;
    });
    const { version } = await doImport(path);
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
    await doImport(path);
    const { version } = await doImport(path);
    expect(version).toMatchObject({ lessonId, versionNumber: 2 });
    expect(version._id).not.toBe(versionId);
    expect((await listMediaOfVersion(harness.db, version._id)).map(({ mediaId }) => mediaId)).toEqual(
      mediaIds,
    );
  });

  test('a package of another version of the lesson keeps its version id, and the lesson gets its title', async () => {
    const { path, lessonId } = await buildPackage();
    await doImport(path);
    const secondId = randomUUID();
    await changeJson(path, 'manifest.json', (manifest) => {
      manifest.versionId = secondId;
    });
    await changeJson(path, 'lesson.json', ({ lesson }) => {
      lesson.title = 'A better title';
      lesson.slug = 'a-better-slug';
    });
    const { version } = await doImport(path);
    expect(version).toMatchObject({ _id: secondId, versionNumber: 2, slug: 'a-better-slug' });
    expect(await findLesson(harness.db, lessonId)).toMatchObject({
      title: 'A better title',
      slug: 'a-better-slug',
    });
  });

  test('concurrent imports of one new lesson all succeed, each with its own number and id', async () => {
    const { path, lessonId } = await buildPackage({ media: [picture(1), picture(2)] });
    const imported = await Promise.all(Array.from({ length: 8 }, () => doImport(path)));
    const numbers = imported.map(({ version }) => version.versionNumber).sort((a, b) => a - b);
    expect(numbers).toEqual(Array.from({ length: 8 }, (_, index) => index + 1));
    expect(new Set(imported.map(({ version }) => version._id)).size).toBe(8);
    for (const { version } of imported) {
      expect(await findContent(harness.db, version._id)).toMatchObject({ lesson: { id: lessonId } });
      expect((await listMediaOfVersion(harness.db, version._id)).length).toBe(2);
    }
  });

  test('an import after the largest version number is rejected with advice', async () => {
    const { path } = await buildPackage();
    const setNumber = (versionNumber: number) =>
      changeJson(path, 'manifest.json', (manifest) => Object.assign(manifest, { versionNumber }));
    await setNumber(999_999);
    await doImport(path);
    await expect(doImport(path)).rejects.toThrow(/999999.*--as-new/);
    await setNumber(1_000_000);
    await expect(doImport(path)).rejects.toThrow('must be at most 999999');
  });

  test('importing a deleted lesson restores it with the imported version, and the others stay unpublished', async () => {
    const { path, lessonId } = await buildPackage();
    const first = await doImport(path);
    await publishVersion(harness.db, harness.store, first.version._id, { force: false });
    await deleteLesson(harness.db, lessonId);
    await doImport(path);
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
    const { mediaIds, path: source } = await buildPackage({ media: [picture(7)] });
    await doImport(source);
    const src = `media:${mediaIds[0]}`;
    const image = { type: 'Image', props: { id: 'Image-1', src, alt: '', caption: '' } };
    const { path } = await buildPackage({ blocks: () => [image] });
    const { version } = await doImport(path, { asNew: true });
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
    await doImport(path);
    const { version } = await doImport(path, { asNew: true });
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
    const { version } = await doImport(path, { asNew: true });
    const media = await listMediaOfVersion(harness.db, version._id);
    const credited = media.filter(({ attributions }) => attributions.length > 0);
    expect(credited).toMatchObject([{ attributions: [attribution], asset: digestOf(picture(1).bytes) }]);
  });
});

test('progress is reported file by file, to the last', async () => {
  const { path } = await buildPackage({ media: [1, 2, 3].map(picture) });
  const reported: unknown[] = [];
  await doImport(path, { onProgress: (progress) => reported.push(progress) });
  expect(reported).toEqual([1, 2, 3].map((done) => ({ done, total: 3, bytes: 1000 * done })));
});

describe('media', () => {
  test('media missing from a package are taken from the organization, the newest with the id, never from another organization', async () => {
    const id = randomUUID();
    const { organization: other } = await buildOrganization(harness);
    await importInto(harness, other, (await buildPackage({ media: [{ id, ...picture(31) }] })).path);
    const user = await buildPackage({
      blocks: () => [{ type: 'Image', props: { id: 'Image-1', src: `media:${id}`, alt: '', caption: '' } }],
    });
    const { version, warnings } = await doImport(user.path);
    expect(warnings.join()).toContain(id);
    const find = () =>
      findMedia(harness.db, { organizationId: organization._id, versionId: version._id }, [id]);
    expect((await find()).size).toBe(0);
    for (const seed of [32, 33]) {
      await doImport((await buildPackage({ media: [{ id, ...picture(seed) }] })).path);
      expect((await find()).get(id)?.asset).toEqual(digestOf(picture(seed).bytes));
    }
  });

  test('an upload with a missing or unusual extension is named by its type, and its references match', async () => {
    const ids = [randomUUID(), randomUUID(), randomUUID()];
    const names = [`${ids[0]}`, `${ids[1]}.photograph`, 'picture.j g'];
    const types = ['image/png', 'application/x-unheard-of', 'image/jpeg'];
    const { path } = await buildPackage({
      blocks: () => [
        { type: 'Image', props: { id: 'a', src: `./media/${names[0]}` } },
        { type: 'Text', props: { id: 'b', html: `<img src="./media/${names[1]}"> ./media/${names[0]}.` } },
        { type: 'Image', props: { id: 'c', src: `media:${ids[2]}` } },
      ],
    });
    await changeJson(path, 'manifest.json', ({ files }) => {
      files.media = ids.map((id, index) => ({
        id,
        localPath: `./media/${names[index]}`,
        mimeType: types[index],
      }));
    });
    await mkdir(join(path, 'media'));
    for (const [index, name] of names.entries())
      await writeFile(join(path, 'media', name), picture(index).bytes);
    const { version, warnings } = await doImport(path);
    expect(warnings).toEqual([]);
    const media = await listMediaOfVersion(harness.db, version._id);
    const extensions = new Map(media.map(({ mediaId, extension }) => [mediaId, extension]));
    expect(ids.map((id) => extensions.get(id))).toEqual(['png', 'bin', 'jpg']);
    const content = JSON.stringify(await findContent(harness.db, version._id));
    expect(content).toContain(`<img src=\\"media:${ids[1]}\\"> media:${ids[0]}.`);
    expect(content).not.toContain('./media/');
  });

  test.each([
    ['a page of HTML', '<!doctype html><p>Not found</p>', 'image/png', /bad_type: the file is text\/html/],
    ['a picture for a video', png(9), 'video/mp4', /bad_type: the file is image\/png/],
    ['an empty file', '', 'image/png', /is empty/],
  ])('an upload that is %s is rejected by its path', async (_what, content, mimeType, message) => {
    const built = await buildPackage({ media: [{ bytes: Buffer.from(content), mimeType }] });
    const importing = doImport(built.path);
    await expect(importing).rejects.toThrow(message);
    await expect(importing).rejects.toThrow(`media/${built.mediaIds[0]}.png`);
    expect(await harness.db.media.countDocuments({ organizationId: organization._id })).toBe(0);
  });
});
