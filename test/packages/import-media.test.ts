import { randomUUID } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { findContent } from '../../shared/models/lesson-content.ts';
import { findMedia, listMediaOfVersion } from '../../shared/models/medium.ts';
import type { Organization } from '../../shared/models/organization.ts';
import { digestOf } from '../../shared/storage/digest.ts';
import { png } from '../exports/pictures.ts';
import { read } from '../storage/stores.ts';
import { buildOrganization, buildPackage } from '../support/factories.ts';
import { startHarness } from '../support/harness.ts';
import type { Harness } from '../support/harness.ts';
import { changeJson, everythingStored, importInto, picture, watchUploads } from './import-support.ts';

let harness: Harness;
let organization: Organization;
beforeAll(async () => {
  harness = await startHarness();
});
beforeEach(async () => {
  ({ organization } = await buildOrganization(harness));
});
afterAll(() => harness.close());

test('media with one id and different bytes in two organizations stay separate', async () => {
  const { organization: other } = await buildOrganization(harness);
  const id = randomUUID();
  const owners = [
    { owner: organization, bytes: picture(11).bytes },
    { owner: other, bytes: picture(12).bytes },
  ];
  const versions = await Promise.all(
    owners.map(async ({ owner, bytes }) => {
      const { path } = await buildPackage({ media: [{ id, bytes }] });
      return (await importInto(harness, owner, path)).version;
    }),
  );
  for (const [index, { owner, bytes }] of owners.entries()) {
    const versionId = versions[index]?._id ?? '';
    const medium = (await findMedia(harness.db, { organizationId: owner._id, versionId }, [id])).get(id);
    const file = await harness.store.assets.open(medium?.asset ?? digestOf(Buffer.alloc(0)));
    expect((await read(file)).equals(bytes)).toBe(true);
    await file?.close();
  }
});

test('media with equal bytes are one file, whoever imports them', async () => {
  const { organization: other } = await buildOrganization(harness);
  const same = picture(21);
  await importInto(harness, organization, (await buildPackage({ media: [same, same] })).path);
  await importInto(harness, other, (await buildPackage({ media: [same] })).path);
  const { files } = (await everythingStored(harness)) as { files: string[] };
  const { sha256 } = digestOf(same.bytes);
  expect(files.filter((path) => path.endsWith(sha256)).length).toBe(1);
});

test('media missing from a package are taken from the organization, the newest with the id, never from another organization', async () => {
  const id = randomUUID();
  const { organization: other } = await buildOrganization(harness);
  await importInto(harness, other, (await buildPackage({ media: [{ id, ...picture(31) }] })).path);
  const user = await buildPackage({
    blocks: () => [{ type: 'Image', props: { id: 'Image-1', src: `media:${id}`, alt: '', caption: '' } }],
  });
  const { version, warnings } = await importInto(harness, organization, user.path);
  expect(warnings.join()).toContain(id);
  const find = () =>
    findMedia(harness.db, { organizationId: organization._id, versionId: version._id }, [id]);
  expect((await find()).size).toBe(0);
  for (const seed of [32, 33]) {
    await importInto(harness, organization, (await buildPackage({ media: [{ id, ...picture(seed) }] })).path);
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
  const { version, warnings } = await importInto(harness, organization, path);
  expect(warnings).toEqual([]);
  const media = await listMediaOfVersion(harness.db, version._id);
  const extensions = new Map(media.map(({ mediaId, extension }) => [mediaId, extension]));
  expect(ids.map((id) => extensions.get(id))).toEqual(['png', 'bin', 'jpg']);
  const content = JSON.stringify(await findContent(harness.db, version._id));
  expect(content).toContain(`<img src=\\"media:${ids[1]}\\"> media:${ids[0]}.`);
  expect(content).not.toContain('./media/');
});

test('media are external below --media-base-url, under the package’s own file names', async () => {
  const { path, mediaIds } = await buildPackage({
    media: [picture(1), { ...picture(2), extension: 'jpg', mimeType: 'image/jpeg' }],
  });
  await changeJson(path, 'manifest.json', ({ files }) => {
    const [, jpeg] = files.media;
    if (jpeg) jpeg.localPath = './media/some picture.jpg';
  });
  await writeFile(join(path, 'media/some picture.jpg'), picture(2).bytes);
  let uploads = 0;
  const store = watchUploads(harness.store, () => {
    uploads += 1;
  });
  const { version } = await importInto({ ...harness, store }, organization, path, {
    mediaBaseUrl: 'http://127.0.0.1:9/folder/',
  });
  const media = await listMediaOfVersion(harness.db, version._id);
  expect(new Map(media.map(({ mediaId, ...medium }) => [mediaId, medium]))).toEqual(
    new Map([
      [
        mediaIds[0],
        expect.objectContaining({
          asset: null,
          extension: 'png',
          sourceUrl: `http://127.0.0.1:9/folder/${mediaIds[0]}.png`,
        }),
      ],
      [
        mediaIds[1],
        expect.objectContaining({
          asset: null,
          extension: 'jpg',
          sourceUrl: 'http://127.0.0.1:9/folder/some%20picture.jpg',
        }),
      ],
    ]),
  );
  expect(uploads).toBe(0);
});

test.each([
  ['a page of HTML', '<!doctype html><p>Not found</p>', 'image/png', /bad_type: the file is text\/html/],
  ['a picture for a video', png(9), 'video/mp4', /bad_type: the file is image\/png/],
  ['an empty file', '', 'image/png', /is empty/],
])('an upload that is %s is rejected by its path', async (_what, content, mimeType, message) => {
  const built = await buildPackage({ media: [{ bytes: Buffer.from(content), mimeType }] });
  await expect(importInto(harness, organization, built.path)).rejects.toThrow(message);
  await expect(importInto(harness, organization, built.path)).rejects.toThrow(
    `media/${built.mediaIds[0]}.png`,
  );
  expect(await harness.db.media.countDocuments({ organizationId: organization._id })).toBe(0);
});

test('uploads of text formats, which have no signature, are accepted as declared', async () => {
  const texts = [
    { mimeType: 'text/vtt', bytes: Buffer.from('\ufeffWEBVTT\n\n00:00.000 --> 00:01.000\nHello') },
    {
      mimeType: 'image/svg+xml',
      bytes: Buffer.from('<!-- drawn --><svg xmlns="http://www.w3.org/2000/svg"/>'),
    },
    { mimeType: 'text/plain', bytes: Buffer.from('BMW and others') },
    { mimeType: 'application/json', bytes: Buffer.from('{}') },
  ];
  const { path } = await buildPackage({ media: texts });
  const { version } = await importInto(harness, organization, path);
  const stored = await listMediaOfVersion(harness.db, version._id);
  expect(stored.map(({ mimeType }) => mimeType).sort()).toEqual(texts.map(({ mimeType }) => mimeType).sort());
});
