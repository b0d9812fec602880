import type { CoreWidgetType } from './core-widgets.ts';
import { listOf, quote, recordOf } from './json-values.ts';
import { partIdOf } from './scoring/scoring.ts';

/** Finds an author's probable mistakes in the props of a question. The player does not need them, so they are apart. */
export const questionFaults: Partial<Record<CoreWidgetType, (props: Record<string, unknown>) => string[]>> = {
  MultipleChoice: choiceFaults,
};

/** Finds choices that learners cannot pick, and questions that no learner can answer correctly. */
function choiceFaults({ choices, correct, points }: Record<string, unknown>): string[] {
  const faults: string[] = [];
  const ids = new Set<string>();
  for (const [index, choice] of listOf(choices).entries()) {
    const id = partIdOf(recordOf(choice).id);
    if (id === undefined) faults.push(`choice ${index + 1} has no id, so learners cannot pick it`);
    else if (ids.has(id))
      faults.push(`choice ${index + 1} has the id ${quote(id)} of an earlier choice, and is left out`);
    else ids.add(id);
  }
  if (correct !== undefined && correct !== null && !Array.isArray(correct)) {
    return [...faults, `correct must be a list of choice ids, such as ["a"]`];
  }
  const right = listOf(correct);
  for (const answer of right) {
    const id = partIdOf(answer);
    if (id !== undefined && ids.has(id)) continue;
    const shown = quote(id ?? JSON.stringify(answer));
    faults.push(`the right answer ${shown} is not among its choices (${firstIds([...ids])})`);
  }
  if (right.length === 0 && points !== 0) {
    faults.push('has no right answer, so it is not scored; set points to 0 if that is meant');
  }
  return faults;
}

function firstIds(ids: string[]): string {
  const shown = ids.slice(0, 10).map((id) => quote(id, 40));
  return `${shown.join(', ')}${ids.length > 10 ? ', …' : ''}`;
}
