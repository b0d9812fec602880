import { expect, test } from 'vitest';
import { GzipText } from '../../shared/platform/gzip-text.ts';
import { PreparedLessons } from '../../shared/player/prepared-lessons.ts';
import { heading, publishLesson, section, step } from './player-lessons.ts';
import { someBytes } from '../exports/archives.ts';
import { useApi } from '../support/use.ts';

const api = useApi();

const megabyte = 1024 ** 2;
const lessonsOf = (bytes = 64 * megabyte) => new PreparedLessons(api.db, bytes);
const load = async (lessons: PreparedLessons, versionId: string) =>
  (await (await lessons.lesson(versionId))?.expand())?.toString('utf8');
const partsOf = (versionId: string, kind: string | object = { $exists: true }) =>
  api.db.preparedParts.find({ versionId, kind }).sort({ kind: 1, part: 1 }).lean().exec();

/** Returns a lesson of at least this many bytes, which hardly compress. */
const largeLesson = (bytes: number, seed = 1) => {
  const html = someBytes(bytes, seed).toString('base64');
  return publishLesson(api, api.organization, {
    sections: [section('one', step('s1', heading(), { type: 'Text', props: { id: 'text', html } }))],
  });
};

/** Removes what the import has prepared, as an upgrade to another format does. */
const forget = (versionId: string) => api.db.preparedParts.deleteMany({ versionId });

test('an import prepares a lesson as a later load would, and it is read back unchanged', async () => {
  // A draft: publishing would prepare it, too.
  const { _id } = await publishLesson(api, api.organization, { publish: false });
  const imported = await partsOf(_id);
  await forget(_id);
  const all = async (lessons: PreparedLessons) => {
    const facts = await lessons.facts(_id);
    const [chunk] = facts?.chunks ?? [];
    return [
      facts,
      await lessons.lesson(_id),
      await lessons.skeleton(_id),
      await lessons.chunk(_id, chunk?.id ?? ''),
    ];
  };
  const made = await all(lessonsOf());
  expect(made).not.toContain(undefined);
  const kept = await partsOf(_id);
  expect(kept.map(({ kind }) => kind.replace(/-.*/, ''))).toEqual([
    'chunk',
    'facts',
    'lesson',
    'skeleton',
    'uses',
  ]);
  const texts = (parts: typeof kept) => parts.map(({ kind, data }) => ({ kind, data }));
  expect(texts(kept)).toEqual(texts(imported));
  expect(await all(lessonsOf())).toStrictEqual(made);
  expect(await partsOf(_id)).toEqual(kept);
});

test('after an import, the first load reads prepared texts alone, and never the content', async () => {
  const { _id: versionId } = await publishLesson(api, api.organization, { publish: false });
  await api.db.lessonContents.deleteMany({ versionId });
  const lessons = lessonsOf();
  const { chunks = [] } = (await lessons.facts(versionId)) ?? {};
  const texts = [
    await lessons.skeleton(versionId),
    await lessons.lesson(versionId),
    ...(await Promise.all(chunks.map(({ id }) => lessons.chunk(versionId, id)))),
  ];
  expect(texts.length).toBeGreaterThan(2);
  expect(texts).not.toContain(undefined);
});

test('texts of an older format are prepared again, and its chunks stay for pages that are open', async () => {
  const { _id } = await publishLesson(api, api.organization);
  const made = await load(lessonsOf(), _id);
  const facts = await lessonsOf().facts(_id);
  const [chunk] = await partsOf(_id, { $regex: '^chunk-' });
  // A release before this one divided the lesson in another way.
  const ofOlderRelease = { format: 1, data: (await GzipText.of('{"title":"older"}')).file };
  await api.db.preparedParts.updateMany({ versionId: _id }, { $set: ofOlderRelease });
  await api.db.preparedParts.updateOne({ _id: chunk?._id }, { $set: { kind: 'chunk-older' } });
  expect(await load(lessonsOf(), _id)).toBe(made);
  expect(await lessonsOf().facts(_id)).toEqual(facts);
  expect((await lessonsOf().chunk(_id, 'older'))?.bytes).toBe('{"title":"older"}'.length);
  expect((await partsOf(_id)).map(({ format }) => format)).toContain(1);
});

test('an unknown version has no lesson, and may get one later', async () => {
  const { _id } = await publishLesson(api, api.organization);
  const parts = await api.db.lessonContents.find({ versionId: _id }).lean().exec();
  await api.db.lessonContents.deleteMany({ versionId: _id });
  await forget(_id);
  const lessons = lessonsOf();
  expect(await lessons.lesson(_id)).toBeUndefined();
  await api.db.lessonContents.insertMany(parts);
  expect(await lessons.lesson(_id)).toBeDefined();
});

test('processes that prepare the same lesson concurrently all get it, and store it once', async () => {
  const { _id } = await largeLesson(megabyte / 4);
  await forget(_id);
  const texts = await Promise.all(Array.from({ length: 3 }, () => load(lessonsOf(), _id)));
  expect(new Set(texts).size).toBe(1);
  expect(await partsOf(_id)).toHaveLength(5);
});

test('a lesson of which a process that died stored only some texts is completed by the next load', async () => {
  const { _id } = await publishLesson(api, api.organization);
  const text = await load(lessonsOf(), _id);
  const { length } = await partsOf(_id);
  await api.db.preparedParts.deleteOne({ versionId: _id, kind: 'lesson' });
  expect(await load(lessonsOf(), _id)).toBe(text);
  expect(await partsOf(_id)).toHaveLength(length);
});

test('a lesson loads although others evict it from memory while it is read', async () => {
  const slow = await largeLesson(megabyte);
  const quick = [await largeLesson(megabyte / 6, 2), await largeLesson(megabyte / 6, 3)];
  for (const { _id } of quick) await load(lessonsOf(), _id);
  const lessons = lessonsOf(megabyte / 4);
  const versions = [slow, ...quick, slow];
  const texts = await Promise.all(versions.map(({ _id }) => load(lessons, _id)));
  expect(texts.map((text) => text?.includes('"id":"text"'))).toEqual([true, true, true, true]);
});
