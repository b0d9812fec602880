import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Block, LessonContent } from '../../shared/lessons/lesson-content.ts';
import { playabilityErrors } from '../../shared/lessons/playability.ts';
import { buildLesson, buildSection, buildStep } from './build-lesson.ts';

/**
 * A step as its blocks: each has a type or lacks it, at the top level or in the slot of another
 * block.
 */
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

test('a lesson is playable exactly when it has sections, each has steps, and each step has only typed blocks', () => {
  fc.assert(
    fc.property(plans, (plan) => {
      const isWhole =
        plan.length > 0 &&
        plan.every((steps) => steps.length > 0) &&
        plan.flat().every((blocks) => blocks.length > 0 && blocks.every(({ hasType }) => hasType));
      expect(playabilityErrors(lessonOf(plan)).length === 0).toBe(isWhole);
    }),
  );
});

test('each problem is reported once, with its position', () => {
  fc.assert(
    fc.property(plans, (plan) => {
      const places = playabilityErrors(lessonOf(plan)).map(({ code, stepId, sectionId }) =>
        [code, stepId ?? sectionId].join(' '),
      );
      const expected = plan.flatMap((steps, at) =>
        steps.length === 0
          ? [`empty_section section-${at}`]
          : steps.flatMap((blocks, index) =>
              blocks.length === 0
                ? [`empty_step step-${at}-${index}`]
                : blocks
                    .filter(({ hasType }) => !hasType)
                    .map(() => `block_without_type step-${at}-${index}`),
            ),
      );
      expect(places).toEqual(plan.length === 0 ? ['no_sections '] : expected);
    }),
  );
});

test('fixing the reported problems leaves none, and nothing else decides', () => {
  fc.assert(
    fc.property(plans, fc.dictionary(fc.string(), fc.jsonValue()), (plan, extra) => {
      const lesson = lessonOf(plan);
      const fixed = lessonOf(
        (plan.length === 0 ? [[]] : plan).map((steps) =>
          (steps.length === 0 ? [[]] : steps).map((blocks) =>
            blocks.length === 0
              ? [{ hasType: true, isNested: false }]
              : blocks.map((block) => ({ ...block, hasType: true })),
          ),
        ),
      );
      expect(playabilityErrors(fixed)).toEqual([]);
      expect(playabilityErrors({ ...extra, ...lesson })).toEqual(playabilityErrors(lesson));
    }),
  );
});
