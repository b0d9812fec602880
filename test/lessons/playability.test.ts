import { describe, expect, test } from 'vitest';

import type { Block } from '../../shared/lessons/lesson-content.ts';
import { playabilityErrors } from '../../shared/lessons/playability.ts';
import { buildBlock, buildLesson, buildSection, buildStep, lessonWithContent } from './build-lesson.ts';

describe('playability', () => {
  test('a whole lesson has no errors', () => {
    expect(playabilityErrors(buildLesson())).toEqual([]);
  });

  test('reports a lesson without sections', () => {
    expect(playabilityErrors(buildLesson({ sections: [] }))).toEqual([
      { code: 'no_sections', message: 'The lesson has no sections' },
    ]);
  });

  test('reports a section without steps', () => {
    const sections = [buildSection(), buildSection({ id: 's2', title: 'Empty', steps: [] })];

    expect(playabilityErrors(buildLesson({ sections }))).toEqual([
      { code: 'empty_section', message: 'Section 2 ("Empty") has no steps', sectionId: 's2' },
    ]);
  });

  test('reports a step without blocks', () => {
    expect(playabilityErrors(lessonWithContent({ content: [], root: { props: {} } }))).toEqual([
      {
        code: 'empty_step',
        message: 'Step "First step" in section "First section" has no blocks',
        sectionId: 'section-1',
        stepId: 'step-1',
      },
    ]);
  });

  test('counts blocks in zones as blocks of their step', () => {
    const content = { content: [], root: {}, zones: { 'root:main': [buildBlock()] } };

    expect(playabilityErrors(lessonWithContent(content))).toEqual([]);
  });

  test.each([{}, { type: '' }, { type: null }])('reports a block without a type: %j', (without) => {
    const inner = { props: { id: 'inner' }, ...without } as Block;
    const content = { content: [buildBlock({ props: { id: 'outer', body: [inner] } })], root: {} };

    expect(playabilityErrors(lessonWithContent(content))).toEqual([
      {
        code: 'block_without_type',
        message:
          'Step "First step" in section "First section" has a block without a type (content.content[0].props.body[0])',
        sectionId: 'section-1',
        stepId: 'step-1',
      },
    ]);
  });

  test('reports everything at once, in reading order', () => {
    const sections = [
      buildSection({ id: 'a', steps: [] }),
      buildSection({ id: 'b', steps: [buildStep({ id: 'x', content: { content: [], root: {} } })] }),
    ];

    expect(playabilityErrors(buildLesson({ sections })).map(({ code }) => code)).toEqual([
      'empty_section',
      'empty_step',
    ]);
  });

  test('removes terminal control characters from titles', () => {
    const sections = [buildSection({ title: '\u001b[2J\u009b\u202e', steps: [] })];

    expect(playabilityErrors(buildLesson({ sections }))[0]?.message).toBe(
      'Section 1 ("\\u001b[2J\\u009b\\u202e") has no steps',
    );
  });
});
