import type { Command } from 'commander';
import { changeFailedScores, changeScores, dismissing, resending } from '../../shared/lti/scores/manage.ts';
import type { ScoreChange } from '../../shared/lti/scores/manage.ts';
import type { AuditAction } from '../../shared/models/audit-entry.ts';
import { LecternError } from '../../shared/platform/errors.ts';
import type { Database } from '../../shared/models/database.ts';
import { findScoresById, listScores } from '../../shared/models/lti-score.ts';
import type { LtiScore, ScoreSelection, ScoreValues } from '../../shared/models/lti-score.ts';
import { withJsonOutput } from '../terminal/json-output.ts';
import type { CommandResult } from '../terminal/json-output.ts';
import { contextCommand, requireOrganization, withContext } from '../installation/context.ts';
import type { CommandContext } from '../installation/context.ts';
import { count, note, table } from '../terminal/output.ts';
import { pageSizeParser, parseSlug, collectUuids, parseUuid } from '../terminal/option-parsers.ts';

/** The maximum number of listed scores; `--before` continues the list (pagination). */
const maxListed = 1000;

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
  contextCommand(
    lti
      .command('scores')
      .description('list scores for learning platforms: sent, waiting and failed, the newest learners first')
      .option('--org <slug>', 'of one organization', parseSlug)
      .option('--platform <id>', 'of one platform', parseUuid)
      .option('--failed', 'only failed scores, which Lectern does not retry')
      .option('--limit <number>', `how many, at most ${maxListed}`, pageSizeParser(maxListed), maxListed)
      .option('--before <id>', 'continue after this score, the last of a list', parseUuid),
    async ({ db, audit }, options: ListOptions) => {
      const found = await list(db, options);
      await auditScores(audit, 'grade.read', found.scores);
      return found;
    },
  );

  addChange(
    lti
      .command('resend')
      .description('send scores again, including failed ones; a worker sends them within half a minute'),
    { done: 'Sending again', action: 'grade.resend', how: resending },
  );
  addChange(
    lti
      .command('dismiss')
      .description('dismiss failed scores, until they change or the learner reopens the link'),
    { done: 'Dismissed', action: 'grade.dismiss', how: dismissing },
  );
}

async function list(
  db: Database,
  { limit, before, ...options }: ListOptions,
): Promise<CommandResult & { scores: LtiScore[] }> {
  const selection = await selectionOf(db, options);
  const last = before === undefined ? undefined : await requireScore(db, before);
  const found = await listScores(db, selection, { before: last, limit: limit + 1 });
  const shown = found.slice(0, limit);
  const end = shown.at(-1);
  if (found.length > limit && end !== undefined) note(`There are more: add --before ${end._id}`);
  return { json: shown.map(present), text: scoreTable(shown), scores: shown };
}

/** Records in each organization's audit log the number of its scores that a command has read or changed. */
async function auditScores(
  audit: CommandContext['audit'],
  action: AuditAction,
  scores: readonly LtiScore[],
): Promise<void> {
  for (const organizationId of new Set(scores.map((score) => score.organizationId))) {
    const count = scores.filter((score) => score.organizationId === organizationId).length;
    await audit(organizationId, action, { target: null, details: { count } });
  }
}

/** How a command changes scores. */
interface Change {
  /** The beginning of the printed result. */
  done: string;
  action: AuditAction;
  how: ScoreChange;
}

function addChange(command: Command, { done, action, how }: Change): void {
  command
    .argument('[ids...]', 'the scores', collectUuids)
    .option('--failed', 'all failed scores')
    .option('--platform <id>', 'with --failed: of one platform', parseUuid)
    .option('--org <slug>', 'with --failed: of one organization', parseSlug);
  withJsonOutput(command, (ids: string[] = [], options: Options) => {
    if (ids.length > 0 === (options.failed === true)) {
      command.error('lectern: select scores by their ids, or with --failed');
    }
    if (ids.length > 0 && (options.org ?? options.platform) !== undefined) {
      command.error('lectern: --org and --platform require --failed, without ids');
    }
    return withContext(async ({ db, audit }) => {
      const changed =
        ids.length > 0
          ? await changeScores(db, ids, how)
          : await changeFailedScores(db, await selectionOf(db, options), how);
      await auditScores(audit, action, changed);
      return { json: changed.map(present), text: `${done}: ${count(changed.length, 'score')}` };
    });
  });
}

/** @throws {LecternError} NOT_FOUND */
async function requireScore(db: Database, id: string): Promise<LtiScore> {
  const [score] = await findScoresById(db, [id]);
  if (score === undefined) throw new LecternError('NOT_FOUND', `There is no score ${id}.`);
  return score;
}

/** @throws {LecternError} NOT_FOUND for an unknown organization */
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
