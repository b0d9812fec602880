import type { Command } from 'commander';
import { LecternError } from '../../shared/errors.ts';
import type { Database } from '../../shared/models/database.ts';
import { findScoresById, listScores } from '../../shared/models/lti-score.ts';
import type { LtiScore, ScoreState, ScoreValues } from '../../shared/models/lti-score.ts';
import { sendAgain } from '../../shared/models/lti-score-changes.ts';
import { answers } from '../answers.ts';
import { requireOrganization, withContext } from '../context.ts';
import { count, note, table } from '../output.ts';
import { slugValue, uuidsValue } from '../values.ts';

/** A school has many learners; who wants to see more of them looks at one organization, or at what failed. */
const mostShown = 1000;

interface ScoresOptions {
  org?: string;
  failed?: boolean;
}

/** `lectern lti scores` and `lectern lti resend`: the outbox of scores. */
export function addScoreCommands(lti: Command): void {
  answers(
    lti
      .command('scores')
      .description(
        'list the scores for learning platforms: sent, waiting and failed, the newest learners first',
      )
      .option('--org <slug>', 'of one organization', slugValue)
      .option('--failed', 'those that are not tried again by themselves'),
    (options: ScoresOptions) =>
      withContext(async ({ db }) => {
        const found = await listScores(db, { ...(await selectionOf(db, options)), limit: mostShown + 1 });
        const shown = found.slice(0, mostShown);
        if (found.length > mostShown) note(`These are the first ${mostShown}; there are more.`);
        return { json: shown.map(present), text: scoreTable(shown) };
      }),
  );

  const resend = lti
    .command('resend')
    .description('send scores again, also those that failed; a worker does it within half a minute')
    .argument('[ids...]', 'the scores', uuidsValue)
    .option('--failed', 'all that failed')
    .option('--org <slug>', 'with --failed: of one organization', slugValue);
  answers(resend, (ids: string[] = [], options: ScoresOptions) => {
    if (ids.length > 0 === (options.failed === true)) {
      resend.error('lectern: say which scores, by their ids or with --failed');
    }
    return withContext(async ({ db }) => {
      const again = ids.length > 0 ? await resendThese(db, ids) : await resendFailed(db, options);
      return { json: again.map(present), text: `Sending again: ${count(again.length, 'score')}` };
    });
  });
}

/** @throws {LecternError} NOT_FOUND when one of them does not exist, or has nothing to send; then none is sent. */
async function resendThese(db: Database, ids: string[]): Promise<LtiScore[]> {
  const found = new Map((await findScoresById(db, ids)).map((score) => [score._id, score]));
  for (const id of ids) {
    const score = found.get(id);
    if (score === undefined) {
      throw new LecternError('NOT_FOUND', `There is no score ${id}. See: lectern lti scores`);
    }
    if (score.wanted === null) {
      throw new LecternError(
        'NOT_FOUND',
        `Of score ${id} there is nothing to send: its learner has not finished the lesson.`,
      );
    }
  }
  await sendAgain(db, ids);
  return findScoresById(db, ids);
}

/** Those that fail again meanwhile are not sent twice. */
async function resendFailed(db: Database, options: ScoresOptions): Promise<LtiScore[]> {
  const selection = await selectionOf(db, { ...options, failed: true });
  const again = new Map<string, LtiScore>();
  for (;;) {
    const found = await listScores(db, { ...selection, limit: mostShown });
    const ids = found.map(({ _id }) => _id).filter((id) => !again.has(id));
    if (ids.length === 0) return [...again.values()];
    await sendAgain(db, ids);
    for (const score of await findScoresById(db, ids)) again.set(score._id, score);
  }
}

/** @throws {LecternError} NOT_FOUND when there is no such organization. */
async function selectionOf(
  db: Database,
  { org, failed = false }: ScoresOptions,
): Promise<{ organizationId?: string; state?: ScoreState }> {
  return {
    ...(org !== undefined && { organizationId: (await requireOrganization(db, org))._id }),
    ...(failed && { state: 'failed' }),
  };
}

function present(score: LtiScore) {
  const { _id: id, organizationId, platformId, lessonId, contextId, ltiUserId } = score;
  const { state, wanted, sent, tries, nextTryAt, failure } = score;
  return {
    ...{ id, organizationId, platformId, lessonId, contextId, ltiUserId },
    ...{ state, wanted, sent, tries, nextTryAt: state === 'waiting' ? nextTryAt : null, failure },
  };
}

function scoreTable(scores: LtiScore[]): string {
  if (scores.length === 0) return 'There are no such scores.';
  const rows = scores.map(({ _id, platformId, ltiUserId, state, wanted, sent, failure }) => [
    ...[_id, platformId, ltiUserId, state, describe(wanted), describe(sent)],
    failure === null ? '' : [failure.reason, failure.status].filter((part) => part !== null).join(' '),
  ]);
  return table(['ID', 'PLATFORM', 'USER', 'STATE', 'WANTED', 'SENT', 'FAILURE'], rows);
}

/** "66.7 of 100". */
function describe(values: ScoreValues | null): string {
  return values === null ? '' : `${values.scoreGiven} of ${values.scoreMaximum}`;
}
