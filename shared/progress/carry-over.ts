import { firstPosition, positionsOf, widgetKey, widgetsByKey } from './outline.ts';
import type { LessonOutline, StepPosition } from './outline.ts';
import { rescoreAnswer, totalPoints } from './score.ts';
import type { ProgressState, StoredItem } from './state.ts';

/**
 * Adapts a learner's state to another version of the lesson:
 *
 * - The position follows its step or, if that is gone, the nearest earlier step that remains.
 * - Answers stay, and follow a widget that moved to another step.
 * - Answers earn the new version's points. A learner may write to any version that was ever published, so the points
 *   of another version could exceed the whole lesson.
 * - Answers to removed widgets keep their points but do not count, until a version has the widget again.
 * - The active time on a step follows the step.
 * - Revision and attempt stay.
 *
 * @param from the outline of the state's version
 * @param to the outline of `toVersionId`
 */
export function carryOver(
  state: ProgressState,
  from: LessonOutline,
  toVersionId: string,
  to: LessonOutline,
): ProgressState {
  const items = carryItems(state.items, from, to);
  return {
    ...state,
    // A learner who has not started must not miss a step that was added before the first one.
    ...(state.status === 'not_started' ? firstPosition(to) : positionIn(to, state.stepId, from)),
    ...totalPoints(to, items),
    versionId: toVersionId,
    totalSteps: to.totalSteps,
    items,
    stepTimes: timesIn(to, state.stepTimes, from),
  };
}

/** Returns answers in another version. */
export function carryItems(
  items: readonly StoredItem[],
  from: LessonOutline,
  to: LessonOutline,
): StoredItem[] {
  return rescored(followMovedWidgets(items, from, to), to);
}

/** Returns the active time on the steps of a version. The time on a removed step is dropped. */
function timesIn(to: LessonOutline, times: number[], from: LessonOutline): number[] {
  if (times.length === 0) return times;
  const before = new Map(positionsOf(from).map(({ stepId }, place) => [stepId, times[place] ?? 0]));
  return positionsOf(to).map(({ stepId }) => before.get(stepId) ?? 0);
}

/** Returns the position of a step in another version, or of the nearest earlier step that remains. */
export function positionIn(to: LessonOutline, stepId: string | null, from: LessonOutline): StepPosition {
  const positions = new Map(positionsOf(to).map((position) => [position.stepId, position]));
  const steps = positionsOf(from).map((position) => position.stepId);
  for (let at = steps.indexOf(stepId); at >= 0; at -= 1) {
    const position = positions.get(steps[at] ?? null);
    if (position !== undefined) return position;
  }
  return firstPosition(to);
}

/**
 * Moves answers to the new steps of their widgets. Ids are unique within a step only, so an answer moves only if one
 * step of each version has the id: otherwise it may be another question's. An answer never replaces another one in the
 * widget's new step.
 */
function followMovedWidgets(
  items: readonly StoredItem[],
  from: LessonOutline,
  to: LessonOutline,
): StoredItem[] {
  const [stepsBefore, stepsAfter] = [stepsByWidget(from), stepsByWidget(to)];
  const keyOf = ({ stepId, widgetId }: StoredItem) => widgetKey(stepId, widgetId);
  const taken = new Set(items.map(keyOf));
  return items.map((item) => {
    const stepId = stepsAfter.get(item.widgetId) ?? null;
    if (stepId === null || stepsBefore.get(item.widgetId) !== item.stepId) return item;
    const target = { ...item, stepId };
    if (taken.has(keyOf(target))) return item;
    taken.add(keyOf(target));
    return target;
  });
}

function rescored(items: readonly StoredItem[], to: LessonOutline): StoredItem[] {
  const widgets = widgetsByKey(to);
  return items.map((item) => {
    const widget = widgets.get(widgetKey(item.stepId, item.widgetId));
    return widget === undefined ? item : { ...item, ...rescoreAnswer(widget, item) };
  });
}

/** Returns the id of the step that contains each widget, by the widget's id; null for an id in several steps. */
function stepsByWidget({ sections }: LessonOutline): Map<string, string | null> {
  const found = new Map<string, string | null>();
  for (const { id, widgets } of sections.flatMap(({ steps }) => steps)) {
    for (const { widgetId } of widgets) found.set(widgetId, found.has(widgetId) ? null : id);
  }
  return found;
}
