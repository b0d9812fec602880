import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { keepLimits } from '../../worker/maintenance/evict.ts';
import { mediumPath } from '../player/player-files.ts';
import { ageFolder, listAll } from '../storage/aging.ts';
import { ask, jsonOf } from '../support/answers.ts';
import { manifestPath } from '../support/factories.ts';
import { useExportLab } from './lab.ts';
import { png } from './pictures.ts';

const lab = useExportLab({}, { worker: true });

/** Publishes a lesson with an external picture; returns it with the id of the picture. */
async function publish(seed: number) {
  const [path, id] = [`/${seed}.png`, randomUUID()];
  lab.origin.serve(path, png(seed));
  return { version: await lab.publish({ media: [{ id, sourceUrl: lab.origin.url(path) }] }), id, path };
}

/** Lets two days pass, and evicts everything that is not used again by then. */
async function evictAll(use: () => Promise<unknown> = () => Promise.resolve()): Promise<number> {
  const { store, config } = lab.harness;
  await ageFolder(config.storeDir, store.copies, 48);
  await use();
  return (await keepLimits(store, { maxBytes: 1, maxAgeHours: 0 })).files;
}

test('an evicted export is built again, byte for byte, with media that are downloaded again', async () => {
  const { version, path } = await publish(31);
  const first = await lab.download(version);
  await evictAll();
  expect(await listAll(lab.harness.store.copies)).toEqual([]);
  expect((await lab.download(version)).bytes.equals(first.bytes)).toBe(true);
  expect(lab.origin.requests(path)).toBe(2);
});

test('manifests and redirects keep the files that their URLs name', async () => {
  const { version, path, id } = await publish(32);
  const { files } = await lab.download(version);
  const learners = await publish(33);
  const linkOf = async ({ version: of, id: medium }: typeof learners) =>
    (await ask(lab.api + mediumPath(of, medium))).headers.get('location') ?? '';
  await linkOf(learners);
  let urls = new Map<string, string>();
  await evictAll(async () => {
    const manifest = jsonOf(await lab.get(version, { pathOf: manifestPath })) as {
      files: { lesson: { url: string }; media: { url: string }[] };
    };
    urls = new Map([
      ['lesson.json', manifest.files.lesson.url],
      [`media/${id}.png`, manifest.files.media[0]?.url ?? ''],
    ]);
    urls.set('learner', await linkOf(learners));
  });
  for (const [name, url] of urls) {
    const { status, body } = await ask(new URL(url, lab.api).href);
    const expected = name === 'learner' ? png(33) : (files.get(name) ?? Buffer.alloc(0));
    expect([status, body.equals(expected)], name).toEqual([200, true]);
  }
  expect([lab.origin.requests(path), lab.origin.requests(learners.path)]).toEqual([1, 1]);
});
