import { firstPlace, placesOf, widgetKey, widgetsByKey } from './outline.ts';
import type { LessonOutline, Place } from './outline.ts';
import { rescoreAnswer, totalPoints } from './score.ts';
import type { ProgressState, StoredItem } from './state.ts';

/**
 * The state of a learner who goes on in another version. The position follows its step, else the nearest step
 * before it that is still there. Answers stay; those whose widget moved to another step follow it. They earn what the
 * new version gives for them: a learner may write to any version that was published once, so points of another one
 * could be worth more than the whole lesson. Those whose widget is gone keep their points and count nothing, until a
 * version has the widget again. Revision and attempt stay.
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
  const items = state.items && rescored(moved(state.items, from, to), to);
  return {
    ...state,
    // Who has not started yet is not to miss a step that was put before the first one.
    ...(state.status === 'not_started' ? firstPlace(to) : placeIn(to, state.stepId, from)),
    ...totalPoints(to, items),
    versionId: toVersionId,
    totalSteps: to.totalSteps,
    items,
  };
}

function placeIn(to: LessonOutline, stepId: string | null, from: LessonOutline): Place {
  const places = new Map(placesOf(to).map((place) => [place.stepId, place]));
  const steps = placesOf(from).map((place) => place.stepId);
  for (let at = steps.indexOf(stepId); at >= 0; at -= 1) {
    const place = places.get(steps[at] ?? null);
    if (place !== undefined) return place;
  }
  return firstPlace(to);
}

/**
 * An id is unique in a step only. So an answer follows its widget only where the id stands in one step of each version:
 * otherwise another question may have the same id. Two answers never become one either: where the widget's new step
 * has an answer already, the other one stays.
 */
function moved(items: readonly StoredItem[], from: LessonOutline, to: LessonOutline): StoredItem[] {
  const [stepsBefore, stepsAfter] = [stepsByWidget(from), stepsByWidget(to)];
  const keyOf = ({ stepId, widgetId }: StoredItem) => widgetKey(stepId, widgetId);
  const taken = new Set(items.map(keyOf));
  return items.map((item) => {
    const [before, ...othersBefore] = stepsBefore.get(item.widgetId) ?? [];
    const [stepId, ...othersAfter] = stepsAfter.get(item.widgetId) ?? [];
    const isUnambiguous = before === item.stepId && othersBefore.length === 0 && othersAfter.length === 0;
    if (stepId === undefined || !isUnambiguous) return item;
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

/** The steps that each widget stands in, by its id. */
function stepsByWidget({ sections }: LessonOutline): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const { id, widgets } of sections.flatMap(({ steps }) => steps)) {
    for (const { widgetId } of widgets) {
      const steps = found.get(widgetId);
      if (steps === undefined) found.set(widgetId, [id]);
      else steps.push(id);
    }
  }
  return found;
}
