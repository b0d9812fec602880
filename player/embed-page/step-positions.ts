import type { ChunkStep, LessonSkeleton } from '../../shared/lessons/lesson-skeleton.ts';
import type { StepPosition, SessionRecord } from './session-record.ts';

/** The steps of a lesson in playing order, and the widgets of those that are loaded. */
export interface StepPositions {
  /** Returns undefined for an unknown step. */
  positionOf(stepId: unknown): StepPosition | undefined;
  /** Returns the learner's position in a record; the first step if the lesson has no such position. */
  positionInRecord(record: SessionRecord): StepPosition;
  isLast(position: StepPosition): boolean;
  /** Remembers the widgets of loaded steps. */
  addSteps(steps: readonly ChunkStep[]): void;
  /** Returns false for a step that has never been loaded: its widgets cannot have reported anything. */
  hasWidget(position: StepPosition, widgetId: string): boolean;
  totalSteps: number;
}

/**
 * @param readFirstSteps returns the first steps. The first answer that needs their widgets calls it, so that parsing does
 * not delay the first step.
 */
export function stepPositions(
  { sections }: Pick<LessonSkeleton, 'sections'>,
  readFirstSteps: () => readonly ChunkStep[],
): StepPositions {
  const steps = sections.flatMap((section, sectionIndex) =>
    section.steps.map(({ id }, stepIndex) => ({ sectionIndex, stepIndex, stepId: id })),
  );
  const byId = new Map(steps.map((step) => [step.stepId, step]));
  const first: StepPosition = steps[0] ?? { sectionIndex: 0, stepIndex: 0, stepId: '' };
  const widgets = new Map<string, ReadonlySet<string>>();
  let unread: typeof readFirstSteps | undefined = readFirstSteps;

  function addSteps(loaded: readonly ChunkStep[]): void {
    for (const { id, content } of loaded) widgets.set(id, blockIds(content));
  }

  return {
    totalSteps: steps.length,
    positionOf: (stepId) => (typeof stepId === 'string' ? byId.get(stepId) : undefined),
    positionInRecord({ stepId, currentSectionIndex, currentStepIndex }) {
      const atIndexes = steps.find(
        ({ sectionIndex, stepIndex }) =>
          sectionIndex === currentSectionIndex && stepIndex === currentStepIndex,
      );
      return byId.get(stepId ?? '') ?? atIndexes ?? first;
    },
    isLast: ({ stepId }) => stepId === steps.at(-1)?.stepId,
    addSteps,
    hasWidget({ stepId }, widgetId) {
      if (unread !== undefined) addSteps(unread());
      unread = undefined;
      return widgets.get(stepId)?.has(widgetId) ?? false;
    },
  };
}

/**
 * Returns the ids of all blocks in a step, including nested ones and those in zones. Any object that has props with an
 * id counts as a block.
 */
function blockIds(content: unknown): ReadonlySet<string> {
  const found = new Set<string>();
  const open: unknown[] = [content];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next !== 'object' || next === null) continue;
    const { props } = next as { props?: { id?: unknown } | null };
    if (typeof props?.id === 'string') found.add(props.id);
    for (const value of Object.values(next) as unknown[]) if (value !== undefined) open.push(value);
  }
  return found;
}
