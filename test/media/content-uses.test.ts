import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ContentUses } from '../../api/media/content-uses.ts';
import { insertContent } from '../../shared/models/lesson-content.ts';
import { buildLesson, buildSection, buildStep } from '../lessons/build-lesson.ts';
import { usedMemory } from '../support/garbage.ts';
import { startHarness } from '../support/harness.ts';
import type { Harness } from '../support/harness.ts';

let harness: Harness;
beforeAll(async () => (harness = await startHarness()));
afterAll(() => harness.close());

/** A lesson that holds one long text, which refers to one medium. */
const longLesson = (mediaId: string, characters: number) => {
  const text = { type: 'Text', props: { id: 'text', html: `${'x'.repeat(characters)} media:${mediaId} x` } };
  const step = buildStep({ content: { content: [text], root: {} } });
  return buildLesson({ sections: [buildSection({ steps: [step] })] });
};

test('of a content only the names are remembered, not the texts that they stand in', async () => {
  const characters = 1024 ** 2;
  const ids = Array.from({ length: 30 }, () => ({ versionId: randomUUID(), mediaId: randomUUID() }));
  for (const { versionId, mediaId } of ids)
    await insertContent(harness.db, versionId, longLesson(mediaId, characters));
  const uses = new ContentUses(harness.db);
  const before = usedMemory().heapUsed;
  for (const { versionId, mediaId } of ids) expect(await uses.refersToMedium(versionId, mediaId)).toBe(true);
  expect(usedMemory().heapUsed - before).toBeLessThan((ids.length * characters) / 3);
});
