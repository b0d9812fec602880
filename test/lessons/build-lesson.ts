import type { Block, LessonContent, Section, Step } from '../../shared/lessons/lesson-content.ts';

export const lessonId = '11111111-1111-4111-8111-111111111111';

export function buildBlock(overrides: Partial<Block> = {}): Block {
  return { type: 'Text', props: { id: 'Text-1', html: '<p>Hello</p>' }, ...overrides };
}

export function buildStep(overrides: Partial<Step> = {}): Step {
  const content = { content: [buildBlock()], root: { props: {} } };
  return { id: 'step-1', title: 'First step', order_index: 0, content, ...overrides };
}

export function buildSection(overrides: Partial<Section> = {}): Section {
  return { id: 'section-1', title: 'First section', order_index: 0, steps: [buildStep()], ...overrides };
}

/** Builds a playable lesson of one section, one step and one block. */
export function buildLesson(overrides: Partial<LessonContent> = {}): LessonContent {
  return {
    lesson: {
      id: lessonId,
      slug: 'a-lesson',
      title: 'A lesson',
      status: 'published',
      language: 'en',
      estimatedDuration: 15,
      variable_definitions: [{ name: 'score', type: 'number', initialValue: 0 }],
      widget_settings: { overrides: {} },
    },
    sections: [buildSection()],
    totalSections: 1,
    totalSteps: 1,
    ...overrides,
  };
}

/** Builds a lesson whose only step has this content. */
export function lessonWithContent(content: Step['content']): LessonContent {
  return buildLesson({ sections: [buildSection({ steps: [buildStep({ content })] })] });
}

/** Builds nested arrays, as JSON.parse would. */
export function nested(levels: number): unknown {
  return JSON.parse('['.repeat(levels) + ']'.repeat(levels));
}
