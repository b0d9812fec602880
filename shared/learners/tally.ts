import { listOf } from '../lessons/json-values.ts';
import { partIdOf } from '../lessons/scoring/scoring.ts';
import type { ProgressRecord } from '../models/progress-record.ts';
import { pointsOfWidget, widgetKey } from '../progress/outline.ts';
import type { LessonOutline, OutlineWidget } from '../progress/outline.ts';
import { rounded, scaledTo100, sumOf } from '../progress/points.ts';
import type { ProgressStatus, StoredItem } from '../progress/state.ts';
import type { Histogram, MarkTally } from './item-analysis.ts';

/**
 * Counts of the learners of a version. Every field is a sum of whole numbers, so it is exact and needs no order.
 */
export interface Tally {
  statuses: Record<ProgressStatus, number>;
  /** By the tenth of the maximum points. */
  scores: Histogram;
  /** By the index of the furthest step. */
  furthest: Histogram;
  /** By the index of the step: the learners who were active on it, by {@link timeRange}. */
  times: Record<string, Histogram>;
  /** By the points of all questions, of learners whose current attempt is finished. */
  totals: Histogram;
  /** By the question's place in the plan, of the same learners. Ids of authors would not be safe as keys. */
  questions: Record<string, QuestionTally>;
}

export interface QuestionTally extends MarkTally {
  /** By the choice's place in {@link choicesOf}. */
  choices: Record<string, ChoiceTally>;
}

/** The learners who took a choice, with the sums of their points in all questions and in the other ones. */
export interface ChoiceTally {
  count: number;
  totals: number;
  rests: number;
}

/** A question of a version in the analysis. */
export interface AnalyzedQuestion {
  key: string;
  stepId: string;
  widget: OutlineWidget;
  maximum: number;
}

/** The parts of a version's outline that a tally needs. */
export interface TallyPlan {
  /** The index of each step, by its id. */
  steps: Map<string, number>;
  questions: AnalyzedQuestion[];
  /** Marks are counted in units of this many points, because sums of whole numbers are exact. */
  unit: number;
}

/** The fields of a record that a tally reads. */
export type TalliedRecord = Pick<
  ProgressRecord,
  'status' | 'score' | 'maxScore' | 'stepId' | 'items' | 'stepTimes' | 'finished'
>;

/** Each range of times ends a tenth above its beginning, so a tally has at most about 100 ranges for each step. */
const rangeRatio = 1.1;

/** Returns the number of the range of a time. */
function timeRange(ms: number): number {
  return Math.max(0, Math.round(Math.log(ms / 1000) / Math.log(rangeRatio)));
}

/** Returns the middle of a range of times, in seconds. */
export function secondsOf(range: number): number {
  return rangeRatio ** range;
}

/** The maximum number of analyzed questions of a version. */
const maxQuestions = 200;

/** Questions with more points are not analyzed, because their sums would not be exact. */
const maxPoints = 1_000_000;

/** The maximum total in units. Below it, sums of products stay exact for a hundred million learners. */
const maxUnits = 20_000;

export function planTally(outline: LessonOutline): TallyPlan {
  const widgets = outline.sections.flatMap(({ steps }) =>
    steps.flatMap((step) => step.widgets.map((widget) => ({ stepId: step.id, widget }))),
  );
  const questions = widgets
    .map(({ stepId, widget }) => {
      const key = widgetKey(stepId, widget.widgetId);
      return { key, stepId, widget, maximum: pointsOfWidget(widget) ?? 0 };
    })
    .filter(({ maximum }) => maximum > 0 && maximum < maxPoints)
    .slice(0, maxQuestions);
  const total = sumOf(questions.map(({ maximum }) => maximum));
  let exponent = -4;
  while (total / 10 ** exponent > maxUnits) exponent += 1;
  const ids = outline.sections.flatMap((section) => section.steps.map(({ id }) => id));
  const steps = ids.map((id, index) => [id, index] as const);
  return { steps: new Map(steps), questions, unit: 10 ** exponent };
}

export function emptyTally(): Tally {
  return {
    statuses: { not_started: 0, in_progress: 0, completed: 0 },
    ...{ scores: {}, furthest: {}, times: {}, totals: {}, questions: {} },
  };
}

/** Counts a learner whose record is in the plan's version. */
export function addLearner(tally: Tally, plan: TallyPlan, record: TalliedRecord): void {
  const { items } = record;
  tally.statuses[record.status] += 1;
  const percent = scaledTo100(record).score;
  if (percent !== null) count(tally.scores, Math.min(9, Math.floor(percent / 10)));
  count(tally.furthest, furthestStep(plan, record, items));
  for (const [step, ms] of Object.entries(record.stepTimes)) {
    if (ms > 0) count((tally.times[step] ??= {}), timeRange(ms));
  }
  // A restart begins an attempt that does not count before it is finished.
  if (record.finished?.isCurrent) addMarks(tally, plan, items);
}

function furthestStep({ steps }: TallyPlan, record: TalliedRecord, items: readonly StoredItem[]): number {
  if (record.status === 'completed') return steps.size - 1;
  return Math.max(
    0,
    ...[record.stepId ?? '', ...items.map(({ stepId }) => stepId)].map((id) => steps.get(id) ?? 0),
  );
}

function addMarks(tally: Tally, { questions, unit }: TallyPlan, items: readonly StoredItem[]): void {
  const byKey = new Map(items.map((item) => [widgetKey(item.stepId, item.widgetId), item]));
  const answered = questions
    .map((question, place) => ({ ...question, place, item: byKey.get(question.key) }))
    // Without an answer, a condition may have hidden the question. Otherwise no answer earns nothing.
    .filter(({ item, widget }) => item !== undefined || !widget.isConditional)
    .map((question) => ({ ...question, score: question.item?.score ?? 0 }));
  const sum = sumOf(answered.map(({ score }) => score));
  const total = rounded(sum / unit, 0);
  count(tally.totals, total);
  for (const { place, widget, item, score } of answered) {
    const question = (tally.questions[place] ??= { marks: {}, rests: {}, products: 0, choices: {} });
    const mark = rounded(score / unit, 0);
    const rest = rounded((sum - score) / unit, 0);
    count(question.marks, mark);
    count(question.rests, rest);
    question.products += mark * rest;
    for (const choice of item === undefined ? [] : pickedChoices(widget, item)) {
      const picked = (question.choices[choice] ??= { count: 0, totals: 0, rests: 0 });
      picked.count += 1;
      picked.totals += total;
      picked.rests += rest;
    }
  }
}

/** Returns the ids of a question's choices; null for a question without choices. */
export function choicesOf({ widgetType, question }: OutlineWidget): string[] | null {
  if (widgetType === 'TrueFalse') return ['true', 'false'];
  if (widgetType !== 'MultipleChoice' || question === null) return null;
  return (question as unknown as { choices: { id: string }[] }).choices.map(({ id }) => id);
}

/** Returns the places of an answer's choices. An answer may be any JSON. */
function pickedChoices(widget: OutlineWidget, { answer }: StoredItem): number[] {
  const known = choicesOf(widget);
  if (known === null) return [];
  const given: unknown = JSON.parse(answer);
  const ids = new Set(typeof given === 'boolean' ? [String(given)] : listOf(given).map(partIdOf));
  return [...known.keys()].filter((place) => ids.has(known[place]));
}

function count(histogram: Histogram, value: string | number): void {
  histogram[value] = (histogram[value] ?? 0) + 1;
}
