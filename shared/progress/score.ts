import { scoringOf } from '../lessons/core-widgets.ts';
import { pointsOfWidget, widgetKey, widgetsByKey } from './outline.ts';
import type { LessonOutline, OutlineWidget } from './outline.ts';
import type { StoredItem } from './state.ts';

/** Points; both are null if nothing is scored. */
export interface Points {
  score: number | null;
  maxScore: number | null;
}

/** The fields of an answer that count toward the points of a lesson. */
export type ScoredItem = Pick<StoredItem, 'stepId' | 'widgetId' | 'score' | 'maxScore'>;

/** The maximum grade of every lesson in gradebooks, independent of its points. */
export const fullMarks = 100;

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
 * Returns the points of a whole lesson. The score is null until a scored answer. The maximum is the sum of the maximums
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
    score: scored.length === 0 ? null : sum(scored.map(({ score }) => score ?? 0)),
    maxScore: reachable.length === 0 ? null : sum(reachable),
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

/** Scales points to 0 to 100, for LTI records; both are null if no points can be earned. */
export function scaledTo100(score: number | null, maxScore: number | null): Points {
  if (maxScore === null || maxScore === 0) return unscored;
  return { score: score === null ? null : rounded((score / maxScore) * fullMarks), maxScore: fullMarks };
}

/** Returns the grade of a finished lesson, out of 100: 0 without answers, 100 if no points can be earned. */
export function shareOf({ score, maxScore }: Points): number {
  const scaled = scaledTo100(score, maxScore);
  return scaled.maxScore === null ? fullMarks : (scaled.score ?? 0);
}

function shareOfDeclared(declared: number | null, { score, maxScore }: Points): Points {
  if (declared === null || score === null || maxScore === null || maxScore === 0) return unscored;
  return { score: Math.min(declared, rounded(declared * (score / maxScore))), maxScore: declared };
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

function sum(points: readonly number[]): number {
  return rounded(points.reduce((total, value) => total + value, 0));
}

/** Rounds to four decimals, so that sums of shares compare and print as expected. JSON has no infinity. */
function rounded(value: number): number {
  const scaled = value * 10_000;
  return Number.isFinite(scaled) ? Math.round(scaled) / 10_000 : Math.min(value, Number.MAX_VALUE);
}
