import { stepBlocks, typeOf } from './blocks.ts';
import type { LessonContent, Section, Step } from './lesson-content.ts';
import { quote } from './json-values.ts';

export type PlayabilityCode = 'no_sections' | 'empty_section' | 'empty_step' | 'block_without_type';

export interface PlayabilityError {
  code: PlayabilityCode;
  message: string;
  sectionId?: string;
  stepId?: string;
}

/**
 * Returns the reasons why a lesson cannot be played, in reading order: no sections, a section without steps, a step
 * without blocks, a block without a type. Unknown widgets and missing media are not among them.
 */
export function playabilityErrors(content: LessonContent): PlayabilityError[] {
  if (content.sections.length === 0) return [{ code: 'no_sections', message: 'The lesson has no sections' }];
  return content.sections.flatMap((section, index) => sectionErrors(section, index));
}

function sectionErrors(section: Section, index: number): PlayabilityError[] {
  if (section.steps.length > 0) return section.steps.flatMap((step) => stepErrors(section, step));
  const message = `Section ${index + 1} (${quote(section.title)}) has no steps`;
  return [{ code: 'empty_section', message, sectionId: section.id }];
}

function stepErrors(section: Section, step: Step): PlayabilityError[] {
  const place = { sectionId: section.id, stepId: step.id };
  const where = `Step ${quote(step.title)} in section ${quote(section.title)}`;
  const errors: PlayabilityError[] = [];
  let blocks = 0;
  for (const { block, path } of stepBlocks(step.content)) {
    blocks += 1;
    if (typeOf(block) !== undefined) continue;
    errors.push({
      code: 'block_without_type',
      message: `${where} has a block without a type (${path})`,
      ...place,
    });
  }
  if (blocks === 0) errors.push({ code: 'empty_step', message: `${where} has no blocks`, ...place });
  return errors;
}
