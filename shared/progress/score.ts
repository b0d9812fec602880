import { scoringOf } from '../lessons/core-widgets.ts';
import { pointsOfWidget, widgetKey, widgetsByKey } from './outline.ts';
import type { LessonOutline, OutlineWidget } from './outline.ts';
import { sumOf } from './points.ts';
import type { Points } from './points.ts';
import type { StoredItem } from './state.ts';

/** The fields of an answer that count toward the points of a lesson. */
export type ScoredItem = Pick<StoredItem, 'stepId' | 'widgetId' | 'score' | 'maxScore'>;

const unscored: Points = { score: null, maxScore: null };

/**
 * Returns the points of an answer. Core widgets are scored by the outline, and claims are ignored. Custom widgets earn
 * the claimed share of the points that their author declared.
 *
 * @param answer JSON text
 */
export function scoreAnswer(widget: OutlineWidget, answer: string, claimed: Points): Points {
  if (!widget.isCore) return shareOfDeclared(widget.declaredPoints, claimed);
  const scoring = scoringOf(widget.widgetType);
  if (scoring === null || widget.question === null) return unscored;
  const earned = scoring.score(widget.question, JSON.parse(answer));
  return earned === null ? unscored : { ...earned, score: Math.min(earned.score, earned.maxScore) };
}

/**
 * Returns the exact points of a whole lesson. The score is null until a scored answer. The maximum is the sum of the maximums
 * of all scored answers, and of the points of all other widgets that no condition may hide. Those include questions
 * that an older version did not score when they were answered. Answers to widgets that the version lacks do not count.
 */
export function totalPoints(outline: LessonOutline, items: readonly ScoredItem[] | null): Points {
  const widgets = widgetsByKey(outline);
  const keyOf = ({ stepId, widgetId }: ScoredItem) => widgetKey(stepId, widgetId);
  const scored = (items ?? []).filter((item) => item.score !== null && widgets.has(keyOf(item)));
  const earned = new Set(scored.map(keyOf));
  const reachable = [...scored.map(({ maxScore }) => maxScore ?? 0), ...openPoints(widgets, earned)];
  return {
    score: scored.length === 0 ? null : sumOf(scored.map(({ score }) => score ?? 0)),
    maxScore: reachable.length === 0 ? null : sumOf(reachable),
  };
}

/**
 * Returns the points in this version of an answer from another one. Core widgets score the answer again; custom widgets
 * keep the earned share, of this version's points. Answers to a widget of another type are not scored.
 */
export function rescoreAnswer(
  widget: OutlineWidget,
  { widgetType, answer, score, maxScore }: StoredItem,
): Points {
  return widgetType === widget.widgetType ? scoreAnswer(widget, answer, { score, maxScore }) : unscored;
}

function shareOfDeclared(declared: number | null, { score, maxScore }: Points): Points {
  if (declared === null || score === null || maxScore === null || maxScore === 0) return unscored;
  return { score: Math.min(declared, declared * (score / maxScore)), maxScore: declared };
}

/** Returns the points of each widget without a scored answer. */
function openPoints(widgets: ReadonlyMap<string, OutlineWidget>, earned: ReadonlySet<string>): number[] {
  const points: number[] = [];
  for (const [key, widget] of widgets) {
    const open = pointsOfWidget(widget);
    if (open !== null && !widget.isConditional && !earned.has(key)) points.push(open);
  }
  return points;
}
