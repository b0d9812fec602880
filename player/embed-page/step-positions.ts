import type { StepPosition, SessionRecord } from './session-record.ts';

/** The steps of a lesson in playing order, and their widgets. */
export interface StepPositions {
  /** Returns undefined for an unknown step. */
  positionOf(stepId: unknown): StepPosition | undefined;
  /** Returns the learner's position in a record; the first step if the lesson has no such position. */
  positionInRecord(record: SessionRecord): StepPosition;
  isLast(position: StepPosition): boolean;
  hasWidget(position: StepPosition, widgetId: string): boolean;
  totalSteps: number;
}

interface Ordered {
  order_index: number;
}

interface Section extends Ordered {
  steps: (Ordered & { id: string; content: unknown })[];
}

/** @param lesson from player-data, which Lectern has checked at import */
export function stepPositions(lesson: unknown): StepPositions {
  const steps = inOrder((lesson as { sections: Section[] }).sections).flatMap((section, sectionIndex) =>
    inOrder(section.steps).map(({ id, content }, stepIndex) => ({
      position: { sectionIndex, stepIndex, stepId: id },
      content,
    })),
  );
  const byId = new Map(steps.map((step) => [step.position.stepId, step]));
  const first: StepPosition = steps[0]?.position ?? { sectionIndex: 0, stepIndex: 0, stepId: '' };
  const widgets = new Map<string, ReadonlySet<string>>();
  return {
    totalSteps: steps.length,
    positionOf: (stepId) => (typeof stepId === 'string' ? byId.get(stepId)?.position : undefined),
    positionInRecord({ stepId, currentSectionIndex, currentStepIndex }) {
      const atIndexes = steps.find(
        ({ position }) =>
          position.sectionIndex === currentSectionIndex && position.stepIndex === currentStepIndex,
      );
      return (byId.get(stepId ?? '') ?? atIndexes)?.position ?? first;
    },
    isLast: ({ stepId }) => stepId === steps.at(-1)?.position.stepId,
    hasWidget({ stepId }, widgetId) {
      const known = widgets.get(stepId) ?? blockIds(byId.get(stepId)?.content);
      widgets.set(stepId, known);
      return known.has(widgetId);
    },
  };
}

/** Returns the ids of all blocks in a step, including nested ones and those in zones: of every object that has props with an id. */
function blockIds(content: unknown): ReadonlySet<string> {
  const found = new Set<string>();
  const open: unknown[] = [content];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next !== 'object' || next === null) continue;
    const { props } = next as { props?: { id?: unknown } | null };
    if (typeof props?.id === 'string') found.add(props.id);
    open.push(...(Object.values(next) as unknown[]).filter((value) => value !== undefined));
  }
  return found;
}

function inOrder<T extends Ordered>(items: readonly T[]): T[] {
  return items.toSorted((a, b) => a.order_index - b.order_index);
}
