import { sectionById, stepById, withSection, withStep } from './edit-outline.ts';
import type { Skeleton } from './lesson-document.ts';

/** Returns another author's skeleton with the sections and steps of one's own that it lacks, after their predecessors. */
export function mergeSkeletons(mine: Skeleton, theirs: Skeleton): Skeleton {
  let merged = theirs;
  for (const [index, section] of mine.sections.entries()) {
    const steps = section.steps.filter(({ id }) => stepById(merged, id) === undefined);
    if (sectionById(merged, section.id) === undefined) {
      // With the steps that moved into it elsewhere left out.
      const at = merged.sections.findIndex(({ id }) => id === mine.sections[index - 1]?.id);
      if (steps.length > 0 || section.steps.length === 0)
        merged = withSection(merged, { ...section, steps }, at + 1);
      continue;
    }
    for (const step of steps) {
      const before = section.steps[section.steps.indexOf(step) - 1];
      const present = sectionById(merged, section.id)?.steps ?? [];
      const at = present.findIndex(({ id }) => id === before?.id);
      merged = withStep(merged, step, { sectionId: section.id, index: at + 1 });
    }
  }
  return merged;
}
