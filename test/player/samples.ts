import { readFile } from 'node:fs/promises';
import type { Block, LessonContent } from '../../shared/lessons/lesson-content.ts';
import { buildLesson, buildSection, buildStep, lessonId } from '../lessons/build-lesson.ts';

export { lessonId };

/** The titles of each step's blocks, by the titles of sections and steps. */
export type SampleSections = Record<string, Record<string, Block[]>>;

/** Builds a lesson in which a step's id is its title in lower case. */
export function lessonOf(
  sections: SampleSections,
  meta: Partial<LessonContent['lesson']> = {},
): LessonContent {
  const lesson = buildLesson();
  return {
    ...lesson,
    lesson: { ...lesson.lesson, title: 'Planets', variable_definitions: [], ...meta },
    sections: Object.entries(sections).map(([title, steps], order_index) =>
      buildSection({
        id: `section-${order_index}`,
        title,
        order_index,
        steps: Object.entries(steps).map(([name, content], index) =>
          buildStep({
            id: name.toLowerCase(),
            title: name,
            order_index: index,
            content: { content, root: { props: {} } },
          }),
        ),
      }),
    ),
  };
}

export function text(id: string, html: string, props: Record<string, unknown> = {}): Block {
  return { type: 'Text', props: { id, html, ...props } };
}

/** Three steps in two sections, with a question of one point and an open one. */
export function threeSteps(): LessonContent {
  return lessonOf({
    Near: {
      Mercury: [text('t1', '<p>Closest to the Sun.</p>')],
      Venus: [
        {
          type: 'MultipleChoice',
          props: {
            id: 'q1',
            prompt: '<p>How hot is Venus?</p>',
            choices: [
              { id: 'a', html: '460 °C' },
              { id: 'b', html: '46 °C' },
            ],
            correct: ['a'],
          },
        },
      ],
    },
    Far: {
      Neptune: [{ type: 'OpenResponse', props: { id: 'o1', prompt: '<p>Why is it blue?</p>' } }],
    },
  });
}

/** The lesson.json of the demo. */
export async function demoLesson(): Promise<LessonContent> {
  const file = new URL('../../demo/lesson/lesson.json', import.meta.url);
  return JSON.parse(await readFile(file, 'utf8')) as LessonContent;
}

/** The blocks of each step of the demo lesson. */
export async function demoSteps(): Promise<Block[][]> {
  const { sections } = await demoLesson();
  return sections.flatMap(({ steps }) => steps.map(({ content }) => content.content));
}

/** One right choice, worth 3 points. */
export const question = {
  type: 'MultipleChoice',
  props: {
    id: 'q1',
    prompt: '<p>Which is a planet?</p>',
    choices: [
      { id: 'moon', html: 'The <em>Moon</em>' },
      { id: 'mars', html: 'Mars' },
      { id: 'sun', html: 'The Sun' },
    ],
    correct: ['mars'],
    points: 3,
    explanation: '<p>Mars goes round the Sun.</p>',
  },
};

/** Two right choices, with partial credit. */
export const several = {
  type: 'MultipleChoice',
  props: { ...question.props, id: 'q2', correct: ['mars', 'moon'], partialCredit: true, points: 2 },
};

export const openQuestion = {
  type: 'OpenResponse',
  props: { id: 'o1', prompt: '<p>Why?</p>', sampleAnswer: 'Because it <em>turns</em>.' },
};
