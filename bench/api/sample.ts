import { randomUUID } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { prose } from '../prose.ts';

/** Writes a package of a lesson in sections of four steps, each a heading, a text and a question. */
export async function writeSampleLesson(
  folder: string,
  { steps, wordsPerStep }: { steps: number; wordsPerStep: number },
): Promise<void> {
  const [lessonId, versionId] = [randomUUID(), randomUUID()];
  const allSteps = Array.from({ length: steps }, (_, number) => ({
    id: randomUUID(),
    title: `Step ${number + 1}`,
    order_index: number % 4,
    content: { root: { props: {} }, content: blocks(number, wordsPerStep) },
  }));
  const sections = Array.from({ length: Math.ceil(steps / 4) }, (_, number) => ({
    id: randomUUID(),
    title: `Section ${number + 1}`,
    order_index: number,
    steps: allSteps.slice(4 * number, 4 * number + 4),
  }));
  const lesson = {
    lesson: {
      id: lessonId,
      slug: 'sample',
      title: 'Sample',
      status: 'published',
      variable_definitions: [{ name: 'tries', type: 'number', initialValue: 0 }],
      widget_settings: { overrides: {} },
    },
    sections,
    totalSections: sections.length,
    totalSteps: steps,
  };
  const manifest = {
    lessonId,
    title: 'Sample',
    versionNumber: 1,
    versionId,
    formatVersion: '1.0.0',
    files: { media: [], widgets: [] },
  };
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'lesson.json'), JSON.stringify(lesson));
  await writeFile(join(folder, 'manifest.json'), JSON.stringify(manifest));
}

function blocks(step: number, words: number) {
  const choices = Array.from({ length: 4 }, (_, index) => ({
    id: `choice-${index}`,
    text: prose(6, step * 31 + index),
    correct: index === step % 4,
  }));
  return [
    { type: 'Heading', props: { id: `Heading-${step}`, text: prose(4, step), level: 2 } },
    { type: 'Text', props: { id: `Text-${step}`, text: prose(words, step * 7 + 1) } },
    { type: 'MultipleChoice', props: { id: `MultipleChoice-${step}`, question: prose(12, step), choices } },
  ];
}
