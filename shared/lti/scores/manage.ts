import type { Database } from '../../models/database.ts';
import { dismissScores, retryScores } from '../../models/lti-score-changes.ts';
import { findScoresById, listScores } from '../../models/lti-score.ts';
import type { LtiScore, ScoreSelection } from '../../models/lti-score.ts';
import { LecternError } from '../../platform/errors.ts';

/** The number of scores that one database operation changes. */
const batchSize = 1000;

/** A change to scores in the outbox. */
export interface ScoreChange {
  /** Returns the error for a score that cannot be changed; null if it can. */
  reject: (score: LtiScore) => LecternError | null;
  change: (db: Database, ids: readonly string[]) => Promise<unknown>;
}

/** Sends scores again, in any state. A worker does so within half a minute. */
export const resending: ScoreChange = {
  reject: ({ _id, wanted }) =>
    wanted === null
      ? new LecternError(
          'CONFLICT',
          `Score ${_id} has nothing to send: its learner has not finished the lesson.`,
        )
      : null,
  change: retryScores,
};

/** Dismisses failed scores, until they change or the learner reopens the link. */
export const dismissing: ScoreChange = {
  reject: ({ _id, state }) =>
    state === 'failed' ? null : new LecternError('CONFLICT', `Score ${_id} has not failed: it is ${state}.`),
  change: dismissScores,
};

/**
 * Changes scores by their ids.
 *
 * @param organizationId whose they must be; undefined for operators
 * @throws {LecternError} NOT_FOUND if one does not exist, CONFLICT if one cannot be changed; then none is changed
 */
export async function changeScores(
  db: Database,
  ids: readonly string[],
  { reject, change }: ScoreChange,
  organizationId?: string,
): Promise<LtiScore[]> {
  const found = new Map((await findScoresById(db, ids)).map((score) => [score._id, score]));
  for (const id of ids) {
    const score = found.get(id);
    if (score === undefined || score.organizationId !== (organizationId ?? score.organizationId))
      throw new LecternError('NOT_FOUND', `There is no score ${id}.`);
    const rejection = reject(score);
    if (rejection !== null) throw rejection;
  }
  await change(db, ids);
  return findScoresById(db, ids);
}

/**
 * Changes scores that are in the state failed when their batch is read, each once.
 *
 * @param limit how many at most.
 */
export async function changeFailedScores(
  db: Database,
  selection: ScoreSelection,
  { change }: ScoreChange,
  limit = Infinity,
): Promise<LtiScore[]> {
  const changed: LtiScore[] = [];
  for (let before: LtiScore | undefined; changed.length < limit;) {
    const size = Math.min(batchSize, limit - changed.length);
    const found = await listScores(db, { ...selection, state: 'failed' }, { before, limit: size });
    const ids = found.map(({ _id }) => _id);
    await change(db, ids);
    changed.push(...(await findScoresById(db, ids)));
    before = found.at(-1);
    if (found.length < size) break;
  }
  return changed;
}
