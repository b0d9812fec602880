import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { ContentUses } from '../../api/media/content-uses.ts';
import { insertContent } from '../../shared/models/lesson-content.ts';
import { buildLesson, buildSection, buildStep } from '../lessons/build-lesson.ts';
import { usedMemory } from '../support/garbage.ts';
import { useHarness } from '../support/use.ts';

const harness = useHarness();

test('the cache keeps the ids in a content, not the texts around them', async () => {
  const characters = 1024 ** 2;
  const ids = Array.from({ length: 4 }, () => ({ versionId: randomUUID(), mediaId: randomUUID() }));
  for (const { versionId, mediaId } of ids) {
    const html = `${'x'.repeat(characters)} media:${mediaId} x`;
    const text = { type: 'Text', props: { id: 'text', html } };
    const step = buildStep({ content: { content: [text], root: {} } });
    const lesson = buildLesson({ sections: [buildSection({ steps: [step] })] });
    await insertContent(harness.db, versionId, lesson);
  }
  const uses = new ContentUses(harness.db);
  const before = usedMemory().heapUsed;
  for (const { versionId, mediaId } of ids) expect(await uses.refersToMedium(versionId, mediaId)).toBe(true);
  expect(usedMemory().heapUsed - before).toBeLessThan((ids.length * characters) / 3);
});
