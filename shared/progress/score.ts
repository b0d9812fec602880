import { scoringOf } from '../lessons/core-widgets.ts';
import { pointsOfWidget, widgetKey, widgetsByKey } from './outline.ts';
import type { LessonOutline, OutlineWidget } from './outline.ts';
import type { StoredItem } from './state.ts';

/** Points; both null for what is not scored. */
export interface Points {
  score: number | null;
  maxScore: number | null;
}

/** What of an answer counts towards the points of a lesson. */
export type ScoredItem = Pick<StoredItem, 'stepId' | 'widgetId' | 'score' | 'maxScore'>;

/** What all of a lesson is worth in gradebooks, however many points it has. */
export const fullMarks = 100;

const unscored: Points = { score: null, maxScore: null };

/**
 * What an answer earns: by the outline for a core widget, whatever was claimed. Any other widget earns the share that
 * was claimed of the points that its author declared.
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
 * Returns the points of a whole lesson. The score is null until something scored was answered. The maximum is what
 * the answers could have earned, and what the other widgets can earn that no condition may hide. Among those are
 * questions that an older version did not score when they were answered. Answers to widgets that the version lacks
 * count nothing.
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
 * Returns what an answer of another version earns by this one's widget: a core widget scores the answer itself, a custom
 * one gives the share that was earned of its own points. An answer to a widget of another type is not scored.
 */
export function rescoreAnswer(
  widget: OutlineWidget,
  { widgetType, answer, score, maxScore }: StoredItem,
): Points {
  return widgetType === widget.widgetType ? scoreAnswer(widget, answer, { score, maxScore }) : unscored;
}

/**
 * Points on the scale of 0 to 100 that the LTI record has. Where nothing can be gained there is no scale: both are
 * null.
 */
export function scaledTo100(score: number | null, maxScore: number | null): Points {
  if (maxScore === null || maxScore === 0) return unscored;
  return { score: score === null ? null : rounded((score / maxScore) * fullMarks), maxScore: fullMarks };
}

/** The grade of a finished lesson, out of 100: zero where nothing was answered, all where nothing can be gained. */
export function shareOf({ score, maxScore }: Points): number {
  const scaled = scaledTo100(score, maxScore);
  return scaled.maxScore === null ? fullMarks : (scaled.score ?? 0);
}

function shareOfDeclared(declared: number | null, { score, maxScore }: Points): Points {
  // A share of nothing says nothing.
  if (declared === null || score === null || maxScore === null || maxScore === 0) return unscored;
  return { score: Math.min(declared, rounded(declared * (score / maxScore))), maxScore: declared };
}

/** Returns the points of widgets that have no scored answer yet, one entry a widget. */
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

/** To four decimals, so that sums of shares compare and print as a reader expects. JSON knows no infinity. */
function rounded(value: number): number {
  const scaled = value * 10_000;
  return Number.isFinite(scaled) ? Math.round(scaled) / 10_000 : Math.min(value, Number.MAX_VALUE);
}
