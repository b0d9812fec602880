import { setTimeout as delay } from 'node:timers/promises';
import { LecternError } from '../../shared/errors.ts';
import type { Database } from '../../shared/models/database.ts';
import { findPublishedVersion } from '../../shared/models/lesson-version.ts';
import type { PlayerToken } from '../../shared/player-tokens.ts';
import type { LessonFacts, PreparedLessons } from '../../shared/prepared-lessons.ts';
import { carryOver } from '../../shared/progress/carry-over.ts';
import type { LessonOutline } from '../../shared/progress/outline.ts';
import { applyWrite, initialProgress } from '../../shared/progress/rules.ts';
import type { ProgressState } from '../../shared/progress/state.ts';
import type { ProgressWrite } from '../../shared/progress/write.ts';
import type { ScoreNotices } from '../lti/score-notices.ts';
import { findTokenVersion } from './authorize.ts';
import { progressKeeper } from './progress-keepers.ts';
import type { ProgressKeeper } from './progress-keepers.ts';

/**
 * How long a write that came too early waits for those before it: a page that is closed sends all that it has at once,
 * and is not there any more to send one again.
 */
const earlyMilliseconds = 500;

/** How often it looks whether they have come. */
const lookMilliseconds = 50;

export interface SessionDependencies {
  db: Database;
  lessons: PreparedLessons;
}

/** A session as it is answered: members for `printJson`. */
type Session = Record<string, unknown>;

/** What a write led to; `saved` is false when the record had changed since it was read, and nothing was written. */
export interface WriteOutcome {
  saved: boolean;
  session: Session;
}

export interface WriteDependencies extends SessionDependencies {
  scoreNotices: Pick<ScoreNotices, 'saved'>;
}

/**
 * A learner's progress in the version that is played now. Nothing is stored: a version that was published since the
 * last write changes what is answered, not what is kept.
 */
export async function readSession(
  deps: SessionDependencies,
  token: PlayerToken,
  versionId: string,
): Promise<Session> {
  const keeper = progressKeeper(deps.db, token);
  const kept = await keeper.find();
  return present(kept ?? keeper, await stateIn(deps, versionId, kept?.state ?? null));
}

/**
 * Records what a player reports. What is written for a later revision than there is waits a moment for it.
 *
 * @throws {LecternError} NOT_FOUND when the token has nothing to play any more; INVALID_CONTENT for a version that is
 * not published or not the token's, and for what does not fit the version; PAYLOAD_TOO_LARGE.
 */
export async function writeSession(
  deps: WriteDependencies,
  token: PlayerToken,
  write: ProgressWrite,
): Promise<WriteOutcome> {
  await assertPlayable(deps.db, token, write.versionId);
  const keeper = progressKeeper(deps.db, token);
  const waitUntil = Date.now() + earlyMilliseconds;
  for (;;) {
    const kept = await keeper.find();
    const found = await stateIn(deps, write.versionId, kept?.state ?? null);
    const state = keeper.keeps ? found : { ...found, revision: write.revision };
    const repeated = write.writeId !== undefined && kept?.recentWriteIds.includes(write.writeId) === true;
    if (!repeated && write.revision > state.revision && Date.now() < waitUntil) {
      await delay(lookMilliseconds);
      continue;
    }
    if (repeated || write.revision !== state.revision) {
      return { saved: repeated, session: await present(kept ?? keeper, state) };
    }
    const next = applyWrite(state, write, await outlineOf(deps.lessons, write.versionId), new Date());
    if (await keeper.save(next, write.writeId)) {
      if (token.kind === 'launch' && keeper.keeps) deps.scoreNotices.saved(token);
      return { saved: true, session: await present(keeper, next) };
    }
    // Another write came first: this one is stale now, or was that very write, sent twice.
  }
}

/** A player may go on with the version that it has loaded, although a newer one was published meanwhile. */
async function assertPlayable(db: Database, token: PlayerToken, versionId: string): Promise<void> {
  const { organizationId, lessonId, versionId: pinned } = token;
  const isTokens = pinned === null || pinned === versionId;
  if (isTokens && (await findPublishedVersion(db, organizationId, lessonId, versionId)) !== null) return;
  await findTokenVersion(db, token);
  const message = isTokens
    ? 'versionId must be a published version of the lesson'
    : 'versionId must be the version that the token names';
  throw new LecternError('INVALID_CONTENT', message);
}

/** The state in a version: the stored one, carried over where it was written in another version. */
async function stateIn(
  { lessons }: SessionDependencies,
  versionId: string,
  stored: ProgressState | null,
): Promise<ProgressState> {
  const outline = await outlineOf(lessons, versionId);
  if (stored === null) return initialProgress(versionId, outline, new Date());
  if (stored.versionId === versionId) return stored;
  return carryOver(stored, await outlineOf(lessons, stored.versionId), versionId, outline);
}

async function outlineOf(lessons: PreparedLessons, versionId: string): Promise<LessonOutline> {
  return (await factsOf(lessons, versionId)).outline;
}

async function factsOf(lessons: PreparedLessons, versionId: string): Promise<LessonFacts> {
  const prepared = await lessons.get(versionId);
  if (prepared === undefined) throw new Error(`version ${versionId} has no content`);
  return prepared.facts;
}

/** @param record what there is, or what the token would write where there is nothing yet */
async function present(record: Pick<ProgressKeeper, 'present'>, state: ProgressState): Promise<Session> {
  const { revision, versionId } = state;
  return { ...(await record.present(state)), revision, versionId };
}
