import type { PackageOptions } from '../../shared/lms/package-options.ts';
import type { LessonMap } from '../../shared/lms/lesson-map.ts';
import type { Reported } from '../../shared/lms/state-codec.ts';
import { widgetKey } from '../../shared/progress/outline.ts';
import type { LessonEvent } from '../lesson/options.ts';

/** A learner's result, independent of any standard. */
export interface LessonReport {
  completed: boolean;
  /** Null while the score decides nothing, or not yet. */
  success: 'passed' | 'failed' | null;
  /** From 0 to 1; null before the first scored answer. */
  score: number | null;
  /** Points as the lesson counts them; null before the first scored answer. */
  points: { raw: number; max: number } | null;
  /** The share of the steps that were on the page, from 0 to 1. */
  progress: number;
  sections: SectionReport[];
}

export interface SectionReport {
  id: string;
  title: string;
  status: 'not attempted' | 'incomplete' | 'completed';
  progress: number;
  /** From 0 to 1; null before the first scored answer of the section. */
  score: number | null;
}

/** Shares of points differ in the last digits. */
const tolerance = 1e-9;

/**
 * Returns a learner's result. A lesson that was completed or passed once stays so.
 *
 * @param passMark the share of the points that passes, from 0 to 1; null if the score does not decide
 */
export function reportOf(
  map: LessonMap,
  event: LessonEvent,
  { options, passMark, reported }: { options: PackageOptions; passMark: number | null; reported: Reported },
): LessonReport {
  const { visited, completed: finished } = event.progressData;
  const seen = new Set(visited);
  const steps = map.steps.filter(({ id }) => seen.has(id));
  const { score, maxScore } = event;
  const points = score === null || maxScore === null || maxScore === 0 ? null : { raw: score, max: maxScore };
  const share = points && points.raw / points.max;
  const allSeen = steps.length === map.steps.length;
  // A lesson without points is passed by completing it.
  const reaches =
    maxScore === null ? finished || allSeen : share !== null && share + tolerance >= (passMark ?? 0);
  const byRule = { allSteps: allSeen, finish: finished, passed: passMark === null ? finished : reaches };
  const completed = reported.completed || byRule[options.completion];
  // By the rule `passed`, a missed pass mark is a result once the learner has finished.
  const isJudged = passMark !== null && (completed || (options.completion === 'passed' && finished));
  const passed = reported.passed || (isJudged && reaches);
  const failed = isJudged && options.reportsFailure;
  return {
    completed,
    success: passed ? 'passed' : failed ? 'failed' : null,
    score: share,
    points,
    progress: completed ? 1 : steps.length / Math.max(1, map.steps.length),
    sections: sectionReports(map, event, seen),
  };
}

function sectionReports(map: LessonMap, { items }: LessonEvent, seen: ReadonlySet<string>): SectionReport[] {
  const scores = new Map(items.map((item) => [widgetKey(item.stepId, item.widgetId), item]));
  return map.sections.map(({ id, title }, index) => {
    const steps = map.steps.filter(({ sectionIndex }) => sectionIndex === index);
    const count = steps.filter((step) => seen.has(step.id)).length;
    let [earned, possible, isScored] = [0, 0, false];
    for (const { sectionIndex, stepId, widgetId, form } of map.questions) {
      if (sectionIndex !== index) continue;
      const { score = null, maxScore = null } = scores.get(widgetKey(stepId, widgetId)) ?? {};
      isScored ||= score !== null;
      earned += score ?? 0;
      possible += (score === null ? form.points : maxScore) ?? 0;
    }
    return {
      id,
      title,
      status: count === 0 ? 'not attempted' : count === steps.length ? 'completed' : 'incomplete',
      progress: count / Math.max(1, steps.length),
      score: isScored && possible > 0 ? earned / possible : null,
    };
  });
}
