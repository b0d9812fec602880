import { countLesson } from '../../shared/learners/count-lesson.ts';
import type { CountDependencies } from '../../shared/learners/count-lesson.ts';
import { claimStatistics, postponeStatistics } from '../../shared/models/lesson-statistics.ts';
import type { Logger } from '../../shared/platform/log.ts';
import { startDueWork } from '../../shared/platform/repeat.ts';
import type { Repetition } from '../../shared/platform/repeat.ts';

const pollIntervalMs = 1_000;

/**
 * After a crash, another worker counts the lesson when the lease has ended. A million learners take about a third of it
 * (docs/performance.md), and two counts at once are harmless.
 */
const leaseMs = 60 * 60_000;

const retryMs = 60_000;

/** Counts the learners of lessons whose statistics are due, one lesson at a time, in the order of the requests. */
export function startStatistics(deps: CountDependencies & { log: Logger }): Repetition {
  const { log } = deps;
  return startDueWork({ name: 'statistics', pollIntervalMs, next: (signal) => countDue(deps, signal), log });
}

/** Counts the lesson that has been due longest. Returns false if none is due. */
async function countDue(
  { db, lessons, log }: CountDependencies & { log: Logger },
  signal: AbortSignal,
): Promise<boolean> {
  const now = new Date();
  const claimed = await claimStatistics(db, now, new Date(now.getTime() + leaseMs));
  if (claimed === null) return false;
  const { _id: lessonId } = claimed;
  try {
    const isValid = await countLesson({ db, lessons }, claimed, { signal });
    if (!isValid) await postponeStatistics(db, lessonId, new Date());
  } catch (error) {
    await postponeStatistics(db, lessonId, new Date(Date.now() + (signal.aborted ? 0 : retryMs)));
    if (!signal.aborted)
      log.warn({ err: error, lessonId }, 'statistics could not be counted; they are retried');
  }
  return true;
}
