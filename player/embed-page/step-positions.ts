import type { Place, SessionRecord } from './session-record.ts';

/** The steps of a lesson in playing order, and what may be answered in them. */
export interface LessonPlaces {
  /** Undefined for a step that the lesson does not have. */
  placeOf(stepId: unknown): Place | undefined;
  /** Where a record says that the learner is; the first step when it has no such place. */
  placeOfRecord(record: SessionRecord): Place;
  isLast(place: Place): boolean;
  hasWidget(place: Place, widgetId: string): boolean;
  totalSteps: number;
}

interface Ordered {
  order_index: number;
}

interface Section extends Ordered {
  steps: (Ordered & { id: string; content: unknown })[];
}

/** @param lesson as player-data holds it; Lectern checked it when it was imported. */
export function lessonPlaces(lesson: unknown): LessonPlaces {
  const steps = inOrder((lesson as { sections: Section[] }).sections).flatMap((section, sectionIndex) =>
    inOrder(section.steps).map(({ id, content }, stepIndex) => ({
      place: { sectionIndex, stepIndex, stepId: id },
      content,
    })),
  );
  const byId = new Map(steps.map((step) => [step.place.stepId, step]));
  const first: Place = steps[0]?.place ?? { sectionIndex: 0, stepIndex: 0, stepId: '' };
  const widgets = new Map<string, ReadonlySet<string>>();
  return {
    totalSteps: steps.length,
    placeOf: (stepId) => (typeof stepId === 'string' ? byId.get(stepId)?.place : undefined),
    placeOfRecord({ stepId, currentSectionIndex, currentStepIndex }) {
      const atIndexes = steps.find(
        ({ place }) => place.sectionIndex === currentSectionIndex && place.stepIndex === currentStepIndex,
      );
      return (byId.get(stepId ?? '') ?? atIndexes)?.place ?? first;
    },
    isLast: ({ stepId }) => stepId === steps.at(-1)?.place.stepId,
    hasWidget({ stepId }, widgetId) {
      const known = widgets.get(stepId) ?? blockIds(byId.get(stepId)?.content);
      widgets.set(stepId, known);
      return known.has(widgetId);
    },
  };
}

/** The ids of all blocks in a step, nested ones and those in zones too: whatever has props with an id. */
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
