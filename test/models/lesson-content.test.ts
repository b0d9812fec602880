import { randomBytes, randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { contentParts } from '../../shared/models/gzip-parts.ts';
import { deleteContent, findContent, insertContent } from '../../shared/models/lesson-content.ts';
import { buildBlock, lessonWithContent } from '../lessons/build-lesson.ts';
import { useHarness } from '../support/use.ts';

const harness = useHarness();

function lessonWithProps(props: Record<string, unknown>) {
  return lessonWithContent({ root: { props: {} }, content: [buildBlock({ props: { id: 'a', ...props } })] });
}

/** Stores and reads a content; returns it as text, because the order of keys counts. */
async function roundTrip(content: ReturnType<typeof lessonWithProps>): Promise<string> {
  const versionId = randomUUID();
  await insertContent(harness.db, versionId, await contentParts(content));
  return JSON.stringify(await findContent(harness.db, versionId));
}

function nested(depth: number): unknown {
  return depth === 0 ? 'the end' : { deeper: nested(depth - 1) };
}

test.each([
  ['dots and dollars in keys', { 'a.b': 1, $set: { '$where.x': 2 }, '': 3, '.': 4 }],
  ['keys that look like numbers, among others', { z: 1, 10: 'ten', 9: 'nine', a: { 1: 'x', b: 'y' } }],
  ['keys with a meaning in JavaScript', JSON.parse('{"__proto__": {"a": 1}, "constructor": 2}') as object],
  ['objects that look like types of MongoDB', { date: { $date: 0 }, id: { $oid: 'x' }, _bsontype: 'Long' }],
  ['numbers at the limits', { big: Number.MAX_SAFE_INTEGER, tiny: 5e-324, zero: 0, minus: -1.5 }],
  ['empty and missing values', { none: null, list: [], object: {}, text: '' }],
  ['any text', { emoji: '🎓', null: '\u0000', lone: '\ud800', rtl: 'שלום' }],
  ['objects deeper than MongoDB allows', { deep: nested(190) }],
])('content is stored unchanged: %s', async (_, props) => {
  const content = lessonWithProps(props as Record<string, unknown>);
  expect(await roundTrip(content)).toBe(JSON.stringify(content));
});

test('content larger than a MongoDB document is stored in parts, and read unchanged', async () => {
  const content = lessonWithProps({ html: randomBytes(13 * 1024 ** 2).toString('base64') });
  const versionId = randomUUID();
  await insertContent(harness.db, versionId, await contentParts(content));
  expect(await harness.db.lessonContents.countDocuments({ versionId })).toBeGreaterThan(1);
  const found = await findContent(harness.db, versionId);
  expect(JSON.stringify(found) === JSON.stringify(content)).toBe(true);

  await deleteContent(harness.db, versionId);
  expect(await findContent(harness.db, versionId)).toBeNull();
});

test('a second content of a version is rejected, and the first stays', async () => {
  const versionId = randomUUID();
  await insertContent(harness.db, versionId, await contentParts(lessonWithProps({ html: 'first' })));
  const second = insertContent(
    harness.db,
    versionId,
    await contentParts(lessonWithProps({ html: 'second' })),
  );
  await expect(second).rejects.toMatchObject({ code: 11_000 });
  expect(JSON.stringify(await findContent(harness.db, versionId))).toContain('first');
});
