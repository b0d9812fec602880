import type { ConvertedBlock, ConvertedSection, ConvertedStep } from '../converted-lesson.ts';
import { groupsOf } from '../../platform/groups.ts';

/** The blocks of a category of a question bank. */
export interface Category {
  /** Empty for questions before the first category. */
  title: string;
  /** Each a question, or the blocks of one that belong together. */
  blocks: (ConvertedBlock | ConvertedBlock[])[];
}

/** Makes a section of each category, with steps of at most so many questions. */
export function sectionsOf(
  categories: readonly Category[],
  { title, questionsPerStep }: { title: string; questionsPerStep: number },
): ConvertedSection[] {
  return categories
    .filter(({ blocks }) => blocks.length > 0)
    .map((category) => {
      const name = category.title === '' ? title : category.title.slice(0, 400);
      const groups = [...groupsOf(category.blocks, Math.max(1, questionsPerStep))];
      const steps = groups.map((blocks, index): ConvertedStep => {
        const number = groups.length === 1 ? '' : ` (${index + 1})`;
        return { title: `${name}${number}`, blocks: blocks.flat() };
      });
      return { title: name, steps };
    });
}
