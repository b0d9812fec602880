import type { PackageOptions } from '../../shared/lms/package-options.ts';
import type { LessonMap } from '../../shared/lms/lesson-map.ts';
import type { Reported } from '../../shared/lms/state-codec.ts';
import { reachesMark, shareOf, shownShare } from '../../shared/progress/points.ts';
import { totalPoints } from '../../shared/progress/score.ts';
import type { LessonEvent } from '../lesson/options.ts';

/** A learner's result, independent of any standard. */
export interface LessonReport {
  completed: boolean;
  /** Null while the score decides nothing, or not yet. */
  success: 'passed' | 'failed' | null;
  /** From 0 to 1, as platforms show it; null before the first scored answer. */
  score: number | null;
  /** The exact points; null before the first scored answer. */
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
  const { score, maxScore } = totalPoints(map.outline, event.items);
  const share = shareOf({ score, maxScore });
  const allSeen = steps.length === map.steps.length;
  // A lesson without points is passed by completing it.
  const reaches =
    maxScore === null ? finished || allSeen : share !== null && reachesMark(share, passMark ?? 0);
  const byRule = { allSteps: allSeen, finish: finished, passed: passMark === null ? finished : reaches };
  const completed = reported.completed || byRule[options.completion];
  // By the rule `passed`, a missed pass mark is a result once the learner has finished.
  const isJudged = passMark !== null && (completed || (options.completion === 'passed' && finished));
  const passed = reported.passed || (isJudged && reaches);
  const failed = isJudged && options.reportsFailure;
  return {
    completed,
    success: passed ? 'passed' : failed ? 'failed' : null,
    score: share === null ? null : shownShare(share, passMark),
    points: share === null ? null : { raw: score ?? 0, max: maxScore ?? 0 },
    progress: completed ? 1 : steps.length / Math.max(1, map.steps.length),
    sections: sectionReports(map, event, seen),
  };
}

function sectionReports(map: LessonMap, { items }: LessonEvent, seen: ReadonlySet<string>): SectionReport[] {
  return map.sections.map(({ id, title }, index) => {
    const steps = map.steps.filter(({ sectionIndex }) => sectionIndex === index);
    const count = steps.filter((step) => seen.has(step.id)).length;
    const sections = map.outline.sections.slice(index, index + 1);
    const share = shareOf(totalPoints({ ...map.outline, sections }, items));
    return {
      id,
      title,
      status: count === 0 ? 'not attempted' : count === steps.length ? 'completed' : 'incomplete',
      progress: count / Math.max(1, steps.length),
      score: share === null ? null : shownShare(share),
    };
  });
}
