import type { Command } from 'commander';
import { LecternError } from '../../shared/platform/errors.ts';
import type { Database } from '../../shared/models/database.ts';
import { findScoresById, listScores } from '../../shared/models/lti-score.ts';
import type { LtiScore, ScoreSelection, ScoreValues } from '../../shared/models/lti-score.ts';
import { dismissScores, retryScores } from '../../shared/models/lti-score-changes.ts';
import { answers } from '../terminal/json-output.ts';
import type { Answer } from '../terminal/json-output.ts';
import { requireOrganization, withContext } from '../installation/context.ts';
import { count, note, table } from '../terminal/output.ts';
import { pageSizeValue, slugValue, uuidsValue, uuidValue } from '../terminal/option-parsers.ts';

/** A school has many learners; who wants to see more of them goes on behind the last one. */
const mostShown = 1000;

/** Of those that one command changes. */
const changedAtOnce = 1000;

interface Options {
  org?: string;
  platform?: string;
  failed?: boolean;
}

interface ListOptions extends Options {
  limit: number;
  before?: string;
}

/** `lectern lti scores`, `resend` and `dismiss`: the outbox of scores. */
export function addScoreCommands(lti: Command): void {
  answers(
    lti
      .command('scores')
      .description(
        'list the scores for learning platforms: sent, waiting and failed, the newest learners first',
      )
      .option('--org <slug>', 'of one organization', slugValue)
      .option('--platform <id>', 'of one platform', uuidValue)
      .option('--failed', 'those that are not tried again by themselves')
      .option('--limit <number>', `how many, ${mostShown} at most`, pageSizeValue(mostShown), mostShown)
      .option('--before <id>', 'go on behind this one, the last of a list', uuidValue),
    (options: ListOptions) => withContext(({ db }) => list(db, options)),
  );

  addChange(
    lti
      .command('resend')
      .description('send scores again, also those that failed; a worker does it within half a minute'),
    { done: 'Sending again', refuse: nothingToSend, change: retryScores },
  );
  addChange(
    lti
      .command('dismiss')
      .description(
        'let scores be that failed: nobody has to see to them, until something about them changes',
      ),
    { done: 'Dismissed', refuse: notFailed, change: dismissScores },
  );
}

async function list(db: Database, { limit, before, ...options }: ListOptions): Promise<Answer> {
  const selection = await selectionOf(db, options);
  const last = before === undefined ? undefined : await requireScore(db, before);
  const found = await listScores(db, selection, { before: last, limit: limit + 1 });
  const shown = found.slice(0, limit);
  const end = shown.at(-1);
  if (found.length > limit && end !== undefined) note(`There are more: add --before ${end._id}`);
  return { json: shown.map(present), text: scoreTable(shown) };
}

/** What is done to scores: those of some ids, or all that failed. */
interface Change {
  /** The beginning of what is said of it. */
  done: string;
  /** Why it cannot be done to a score, or null. */
  refuse: (score: LtiScore) => LecternError | null;
  change: (db: Database, ids: readonly string[]) => Promise<unknown>;
}

function addChange(command: Command, { done, ...how }: Change): void {
  command
    .argument('[ids...]', 'the scores', uuidsValue)
    .option('--failed', 'all that failed')
    .option('--platform <id>', 'with --failed: of one platform', uuidValue)
    .option('--org <slug>', 'with --failed: of one organization', slugValue);
  answers(command, (ids: string[] = [], options: Options) => {
    if (ids.length > 0 === (options.failed === true)) {
      command.error('lectern: say which scores, by their ids or with --failed');
    }
    if (ids.length > 0 && (options.org ?? options.platform) !== undefined) {
      command.error('lectern: --org and --platform go with --failed, not with ids');
    }
    return withContext(async ({ db }) => {
      const changed = ids.length > 0 ? await changeThese(db, ids, how) : await changeFailed(db, options, how);
      return { json: changed.map(present), text: `${done}: ${count(changed.length, 'score')}` };
    });
  });
}

/** @throws {LecternError} when one of them does not exist, or it cannot be done to it; then nothing is done. */
async function changeThese(
  db: Database,
  ids: string[],
  { refuse, change }: Omit<Change, 'done'>,
): Promise<LtiScore[]> {
  const found = new Map((await findScoresById(db, ids)).map((score) => [score._id, score]));
  for (const id of ids) {
    const score = found.get(id);
    if (score === undefined) throw noSuchScore(id);
    const refusal = refuse(score);
    if (refusal !== null) throw refusal;
  }
  await change(db, ids);
  return findScoresById(db, ids);
}

/** Each that failed when it is looked at, once. */
async function changeFailed(
  db: Database,
  options: Options,
  { change }: Omit<Change, 'done'>,
): Promise<LtiScore[]> {
  const selection = await selectionOf(db, { ...options, failed: true });
  const changed: LtiScore[] = [];
  for (let before: LtiScore | undefined; ;) {
    const found = await listScores(db, selection, { before, limit: changedAtOnce });
    const ids = found.map(({ _id }) => _id);
    await change(db, ids);
    changed.push(...(await findScoresById(db, ids)));
    before = found.at(-1);
    if (found.length < changedAtOnce) return changed;
  }
}

/** @throws {LecternError} NOT_FOUND */
async function requireScore(db: Database, id: string): Promise<LtiScore> {
  const [score] = await findScoresById(db, [id]);
  if (score === undefined) throw noSuchScore(id);
  return score;
}

function noSuchScore(id: string): LecternError {
  return new LecternError('NOT_FOUND', `There is no score ${id}. See: lectern lti scores`);
}

function nothingToSend({ _id, wanted }: LtiScore): LecternError | null {
  if (wanted !== null) return null;
  const message = `Of score ${_id} there is nothing to send: its learner has not finished the lesson.`;
  return new LecternError('NOT_FOUND', message);
}

function notFailed({ _id, state }: LtiScore): LecternError | null {
  if (state === 'failed') return null;
  return new LecternError('CONFLICT', `Score ${_id} has not failed: it is ${state}.`);
}

/** @throws {LecternError} NOT_FOUND when there is no such organization. */
async function selectionOf(
  db: Database,
  { org, platform, failed = false }: Options,
): Promise<ScoreSelection> {
  return {
    ...(org !== undefined && { organizationId: (await requireOrganization(db, org))._id }),
    ...(platform !== undefined && { platformId: platform }),
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
