import { randomUUID } from 'node:crypto';
import { prose } from '../prose.ts';
import { writePackage } from '../write-package.ts';

/** Writes a lesson package with sections of four steps, each with a heading, a text and a question. */
export async function writeSampleLesson(
  folder: string,
  { steps, wordsPerStep }: { steps: number; wordsPerStep: number },
): Promise<void> {
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
  await writePackage(folder, {
    lessonId: randomUUID(),
    versionId: randomUUID(),
    sections,
    variables: [{ name: 'tries', type: 'number', initialValue: 0 }],
  });
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
