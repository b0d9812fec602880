import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Block, LessonContent } from '../../shared/lessons/lesson-content.ts';
import { playabilityErrors } from '../../shared/lessons/playability.ts';
import { buildBlock, buildLesson, buildSection, buildStep, lessonWithContent } from './build-lesson.ts';

const emptyStep = { content: [], root: { props: {} } };
const where = 'Step "First step" in section "First section"';
const inFirstStep = { sectionId: 'section-1', stepId: 'step-1' };

test.each<[string, LessonContent, object]>([
  [
    'no sections',
    buildLesson({ sections: [] }),
    { code: 'no_sections', message: 'The lesson has no sections' },
  ],
  [
    'a section without steps',
    buildLesson({ sections: [buildSection(), buildSection({ id: 's2', title: 'Empty', steps: [] })] }),
    { code: 'empty_section', message: 'Section 2 ("Empty") has no steps', sectionId: 's2' },
  ],
  [
    'a step without blocks',
    lessonWithContent(emptyStep),
    { code: 'empty_step', message: `${where} has no blocks`, ...inFirstStep },
  ],
  [
    'terminal control characters in a title, escaped',
    buildLesson({ sections: [buildSection({ title: '\u001b[2J\u009b\u202e', steps: [] })] }),
    {
      code: 'empty_section',
      message: 'Section 1 ("\\u001b[2J\\u009b\\u202e") has no steps',
      sectionId: 'section-1',
    },
  ],
  ...[{}, { type: '' }, { type: null }].map((without): [string, LessonContent, object] => {
    const inner = { props: { id: 'inner' }, ...without } as Block;
    return [
      `a nested block without a type: ${JSON.stringify(without)}`,
      lessonWithContent({ content: [buildBlock({ props: { id: 'outer', body: [inner] } })], root: {} }),
      {
        code: 'block_without_type',
        message: `${where} has a block without a type (content.content[0].props.body[0])`,
        ...inFirstStep,
      },
    ];
  }),
])('an unplayable lesson is reported with its position: %s', (_what, lesson, error) => {
  expect(playabilityErrors(lesson)).toEqual([error]);
});

test('blocks in zones count as blocks of their step', () => {
  const content = { ...emptyStep, zones: { 'root:main': [buildBlock()] } };
  expect(playabilityErrors(lessonWithContent(content))).toEqual([]);
});

/** A step as its blocks: each has a type or lacks it, at the top level or in another block's slot. */
const stepBlocks = fc.array(fc.record({ hasType: fc.boolean(), isNested: fc.boolean() }), { maxLength: 4 });
const plans = fc.array(fc.array(stepBlocks, { maxLength: 4 }), { maxLength: 4 });

type Plan = typeof plans extends fc.Arbitrary<infer Value> ? Value : never;

function lessonOf(plan: Plan): LessonContent {
  const sections = plan.map((steps, at) =>
    buildSection({
      id: `section-${at}`,
      steps: steps.map((blocks, index) => {
        const content = blocks.map(({ hasType, isNested }, number) => {
          const block = { ...(hasType && { type: 'Text' }), props: { id: `block-${number}` } } as Block;
          return isNested ? { type: 'Callout', props: { id: `around-${number}`, body: [block] } } : block;
        });
        return buildStep({ id: `step-${at}-${index}`, content: { content, root: { props: {} } } });
      }),
    }),
  );
  return buildLesson({ sections });
}

test('each problem of any lesson is reported once, in reading order, and nothing else is a problem', () => {
  fc.assert(
    fc.property(plans, fc.dictionary(fc.string(), fc.jsonValue()), (plan, extra) => {
      const places = playabilityErrors({ ...extra, ...lessonOf(plan) }).map(({ code, stepId, sectionId }) =>
        [code, stepId ?? sectionId].join(' '),
      );
      const expected = plan.flatMap((steps, at) => {
        if (steps.length === 0) return [`empty_section section-${at}`];
        return steps.flatMap((blocks, index) => {
          if (blocks.length === 0) return [`empty_step step-${at}-${index}`];
          const untyped = blocks.filter(({ hasType }) => !hasType);
          return untyped.map(() => `block_without_type step-${at}-${index}`);
        });
      });
      expect(places).toEqual(plan.length === 0 ? ['no_sections '] : expected);
    }),
  );
});
