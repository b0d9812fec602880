import { setImmediate as otherWork } from 'node:timers/promises';
import type { Model } from 'mongoose';
import type { Database } from '../models/database.ts';
import { claimStatistics, saveStatistics } from '../models/lesson-statistics.ts';
import type { LessonStatistics } from '../models/lesson-statistics.ts';
import { statisticsIndex } from '../models/progress-record.ts';
import type { PreparedLessons } from '../player/prepared-lessons.ts';
import type { LessonOutline } from '../progress/outline.ts';
import { statisticsOf } from './statistics.ts';
import { addLearner, emptyTally, planTally } from './tally.ts';
import type { TalliedRecord, Tally } from './tally.ts';

interface CountDependencies {
  db: Database;
  lessons: Pick<PreparedLessons, 'facts'>;
}

/**
 * Returns a function that counts the learners of a version whose statistics are due; it resolves to false if none are.
 * Organizations take turns, so that several counts of one delay another's by one count at most.
 */
export function countInTurn(deps: CountDependencies): (signal: AbortSignal) => Promise<boolean> {
  let last = '';
  return async (signal) => {
    const claimed = await claimStatistics(deps.db, last);
    if (claimed === null) return false;
    last = claimed.organizationId;
    const [at, started] = [new Date(), performance.now()];
    const facts = await deps.lessons.facts(claimed._id);
    const outline = facts?.outline ?? { sections: [], totalSteps: 0 };
    const tally = await countLearners(deps.db, claimed, outline, signal);
    const durationMs = Math.round(performance.now() - started);
    // Each takes some hundred milliseconds, if hardly any two learners share their points.
    const all = JSON.stringify(statisticsOf(tally, outline, true));
    await otherWork();
    const ofMany = JSON.stringify(statisticsOf(tally, outline, false));
    await saveStatistics(deps.db, claimed, { at, durationMs, all, ofMany });
    return true;
  };
}

const talliedFields = {
  ...{ status: 1, score: 1, maxScore: 1, stepId: 1, items: 1, stepTimes: 1, finished: 1 },
} as const;

/** Counts a version's learners in one pass over their records. */
async function countLearners(
  db: Database,
  { _id: versionId, organizationId, lessonId }: LessonStatistics,
  outline: LessonOutline,
  signal: AbortSignal,
): Promise<Tally> {
  const tally = emptyTally();
  const plan = planTally(outline);
  for (const { collection } of [db.embedProgress, db.ltiProgress] as unknown as Model<never>[]) {
    const records = collection.find(
      { organizationId, lessonId, versionId },
      { projection: talliedFields, hint: statisticsIndex, batchSize: 500 },
    );
    for await (const record of records) {
      signal.throwIfAborted();
      addLearner(tally, plan, record as unknown as TalliedRecord);
    }
  }
  return tally;
}
