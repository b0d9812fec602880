import { countLesson } from '../../shared/learners/count-lesson.ts';
import type { CountDependencies } from '../../shared/learners/count-lesson.ts';
import { claimStatistics, postponeStatistics } from '../../shared/models/lesson-statistics.ts';
import type { LessonStatistics } from '../../shared/models/lesson-statistics.ts';
import type { Logger } from '../../shared/platform/log.ts';
import { repeat } from '../../shared/platform/repeat.ts';
import type { Repetition } from '../../shared/platform/repeat.ts';

const pollIntervalMs = 1_000;

/**
 * After a crash, another worker counts the lesson when the lease has expired. Counting a million learners takes about a
 * third of the lease (docs/performance.md). Two concurrent counts are harmless.
 */
const leaseMs = 60 * 60_000;

const retryMs = 60_000;

/** The number of lessons that a worker counts at once, each of another organization. */
const maxCounts = 2;

/**
 * Counts the learners of lessons whose statistics are due. Organizations take turns, and a worker counts one lesson of
 * each at a time: a long count delays its own organization's next one, and the second slot stays open to others.
 */
export function startStatistics(deps: CountDependencies & { log: Logger }): Pick<Repetition, 'stop'> {
  const { db, log } = deps;
  /** By organization. */
  const running = new Map<string, Promise<void>>();
  let last = '';
  const take = async (signal: AbortSignal) => {
    while (!signal.aborted && running.size < maxCounts) {
      const turn = { after: last, except: [...running.keys()] };
      const now = new Date();
      const lease = new Date(now.getTime() + leaseMs);
      const claimed = await claimStatistics(db, { now, lease }, turn);
      if (claimed === null) return;
      last = claimed.organizationId;
      const counted = countDue(deps, claimed, signal)
        .catch((error: unknown) =>
          log.warn(
            { err: error },
            'statistics could not be counted; they are retried when their lease expires',
          ),
        )
        .finally(() => {
          running.delete(claimed.organizationId);
          polling.run();
        });
      running.set(claimed.organizationId, counted);
    }
  };
  const polling = repeat(take, pollIntervalMs, (error, isFirst) => {
    if (isFirst) log.warn({ err: error }, 'reading due statistics failed; the next poll retries');
  });
  return {
    async stop() {
      await polling.stop();
      await Promise.all(running.values());
    },
  };
}

/** Counts a lesson that this worker has claimed. */
async function countDue(
  { db, lessons, log }: CountDependencies & { log: Logger },
  claimed: LessonStatistics,
  signal: AbortSignal,
): Promise<void> {
  const { _id: lessonId } = claimed;
  try {
    const isValid = await countLesson({ db, lessons }, claimed, { signal });
    if (!isValid) await postponeStatistics(db, lessonId, new Date());
  } catch (error) {
    await postponeStatistics(db, lessonId, new Date(Date.now() + (signal.aborted ? 0 : retryMs)));
    if (!signal.aborted)
      log.warn({ err: error, lessonId }, 'statistics could not be counted; they are retried');
  }
}
