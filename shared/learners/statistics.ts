import type { QuestionFacts } from '../lessons/scoring/scoring.ts';
import { recordOf } from '../lessons/json-values.ts';
import type { LessonOutline, OutlineWidget } from '../progress/outline.ts';
import { rounded } from '../progress/points.ts';
import { analyzeItem, cronbachAlpha, momentsOf, pointBiserial } from './item-analysis.ts';
import type { Histogram, ItemAnalysis } from './item-analysis.ts';
import { choicesOf, planTally, secondsOf } from './tally.ts';
import type { AnalyzedQuestion, ChoiceTally, QuestionTally, Tally } from './tally.ts';

/** With fewer learners, statistics would reveal what one of them did. */
export const minLearners = 5;

export const questionFlags = [
  'too_easy',
  'too_hard',
  'weak_discrimination',
  'negative_discrimination',
] as const;
export const choiceFlags = ['rarely_picked', 'better_than_right_answer'] as const;

type QuestionFlag = (typeof questionFlags)[number];
type ChoiceFlag = (typeof choiceFlags)[number];

const easyPercent = 95;
const hardPercent = 20;
const weakPercent = 15;
/** With fewer learners, a weak discrimination may be chance. */
const minForWeak = 30;
const rareShare = 0.05;

/**
 * Returns the statistics of a version; null if they would be about too few learners.
 *
 * @param withFewLearners whether they may be about fewer than five
 */
export function statisticsOf(tally: Tally, outline: LessonOutline, withFewLearners: boolean) {
  const { not_started: notStarted, in_progress: inProgress, completed } = tally.statuses;
  const total = notStarted + inProgress + completed;
  const isEnough = (learners: number) => withFewLearners || learners >= minLearners;
  if (!isEnough(total)) return null;
  return {
    learners: { total, notStarted, inProgress, completed },
    scores: Array.from({ length: 10 }, (_, tenth) => ({
      ...{ fromPercent: 10 * tenth, toPercent: 10 * (tenth + 1) },
      learners: tally.scores[tenth] ?? 0,
    })),
    steps: stepsOf(tally, outline, { total, isEnough }),
    items: isEnough(sum(Object.values(tally.totals))) ? itemsOf(tally, outline, isEnough) : null,
  };
}

/** Returns how many learners have reached each step, or a later one, and the median of their active time on it. */
function stepsOf(
  { furthest, times }: Tally,
  outline: LessonOutline,
  { total, isEnough }: { total: number; isEnough: (learners: number) => boolean },
) {
  const steps = [...planTally(outline).steps.keys()];
  let later = sum(steps.map((_, index) => furthest[index] ?? 0));
  return steps.map((stepId, index) => {
    const reached = later;
    later -= furthest[index] ?? 0;
    const ranges = times[index] ?? {};
    const medianSeconds = isEnough(sum(Object.values(ranges))) ? medianOf(ranges) : null;
    return { stepId, reached, share: total === 0 ? 0 : rounded(reached / total), medianSeconds };
  });
}

/** Returns the median of the times in these ranges, in seconds; null for none. */
function medianOf(ranges: Histogram): number | null {
  const sorted = Object.entries(ranges).toSorted(([one], [other]) => Number(one) - Number(other));
  const total = sum(Object.values(ranges));
  /** Returns the time of the learner at this place in the order of times. */
  const at = (place: number) => {
    let before = 0;
    const found = sorted.find(([, learners]) => (before += learners) > place);
    return secondsOf(Number(found?.[0]));
  };
  if (total === 0) return null;
  return Math.round((at(Math.floor((total - 1) / 2)) + at(Math.floor(total / 2))) / 2);
}

function itemsOf(tally: Tally, outline: LessonOutline, isEnough: (learners: number) => boolean) {
  const { questions, unit } = planTally(outline);
  const found = questions.flatMap((question, place) => {
    const counted = tally.questions[place];
    return counted === undefined ? [] : [{ question, counted }];
  });
  return {
    learners: sum(Object.values(tally.totals)),
    cronbachAlpha: roundedOrNull(
      cronbachAlpha(
        found.map(({ counted }) => counted),
        tally.totals,
      ),
    ),
    questions: found
      .filter(({ counted }) => isEnough(sum(Object.values(counted.marks))))
      .map(({ question, counted }) => presentQuestion(question, counted, unit)),
  };
}

function presentQuestion(
  { stepId, widget, maximum }: AnalyzedQuestion,
  counted: QuestionTally,
  unit: number,
) {
  const analysis = analyzeItem(counted, maximum / unit);
  const { learners, facility, standardDeviation, discrimination, efficiency } = analysis;
  const ids = choicesOf(widget);
  return {
    stepId,
    widgetId: widget.widgetId,
    widgetType: widget.widgetType,
    learners,
    maxScore: maximum,
    facility: rounded(facility),
    standardDeviation: roundedOrNull(standardDeviation === null ? null : standardDeviation * unit),
    discrimination: roundedOrNull(discrimination),
    efficiency: roundedOrNull(efficiency),
    flags: flagsOf(analysis),
    choices: ids === null ? null : presentChoices(ids, widget, counted, { learners, unit }),
  };
}

function flagsOf({ learners, facility, discrimination }: ItemAnalysis): QuestionFlag[] {
  const flags: [QuestionFlag, boolean][] = [
    ['too_easy', facility > easyPercent],
    ['too_hard', facility < hardPercent],
    ['negative_discrimination', discrimination !== null && discrimination < 0],
    [
      'weak_discrimination',
      discrimination !== null &&
        discrimination >= 0 &&
        discrimination < weakPercent &&
        learners >= minForWeak,
    ],
  ];
  return flags.flatMap(([flag, isSet]) => (isSet ? [flag] : []));
}

const noLearners: ChoiceTally = { count: 0, totals: 0, rests: 0 };

function presentChoices(
  ids: readonly string[],
  widget: OutlineWidget,
  { choices, rests }: QuestionTally,
  { learners, unit }: { learners: number; unit: number },
) {
  const right = rightChoices(widget.question);
  const rest = momentsOf(rests);
  const mean = ({ count, totals }: ChoiceTally) => (count === 0 ? null : totals / count);
  const ofRight = ids.flatMap((id, place) =>
    right.has(id) ? [mean(choices[place] ?? noLearners) ?? 0] : [],
  );
  const best = ofRight.length === 0 ? Infinity : Math.max(...ofRight);
  return ids.map((id, place) => {
    const taken = choices[place] ?? noLearners;
    const meanTotal = mean(taken);
    const isCorrect = right.has(id);
    const share = learners === 0 ? 0 : taken.count / learners;
    const flags: [ChoiceFlag, boolean][] = [
      ['rarely_picked', !isCorrect && share < rareShare],
      ['better_than_right_answer', !isCorrect && meanTotal !== null && meanTotal > best],
    ];
    return {
      ...{ id, isCorrect, learners: taken.count, share: rounded(share) },
      meanTotal: roundedOrNull(meanTotal === null ? null : meanTotal * unit),
      pointBiserial: roundedOrNull(pointBiserial(taken, rest)),
      flags: flags.flatMap(([flag, isSet]) => (isSet ? [flag] : [])),
    };
  });
}

/** Reads the right choices from the facts of a question with choices. */
function rightChoices(question: QuestionFacts | null): Set<string> {
  const { correct } = recordOf(question);
  return new Set(Array.isArray(correct) ? correct.map(String) : [String(correct)]);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function roundedOrNull(value: number | null): number | null {
  return value === null ? null : rounded(value);
}
