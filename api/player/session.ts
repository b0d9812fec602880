import type { ServerResponse } from 'node:http';
import { LecternError } from '../../shared/platform/errors.ts';
import type { Database } from '../../shared/models/database.ts';
import { findOncePublished } from '../../shared/models/lesson-version.ts';
import type { PlayerToken } from '../../shared/tokens/player-tokens.ts';
import type { LessonFacts, PreparedLessons } from '../../shared/player/prepared-lessons.ts';
import { carryOver } from '../../shared/progress/carry-over.ts';
import type { LessonOutline } from '../../shared/progress/outline.ts';
import { applyWrite, attemptOrder, initialProgress } from '../../shared/progress/rules.ts';
import type { ProgressState } from '../../shared/progress/state.ts';
import type { ProgressWrite } from '../../shared/progress/write.ts';
import type { LargeTexts, LargeTextShare } from '../http/large-texts.ts';
import { findTokenVersion } from './authorize.ts';
import { mostRequests } from './learner-lines.ts';
import type { LearnerLines, LinePlace } from './learner-lines.ts';
import { progressKeeper } from './progress-keepers.ts';
import type { FoundProgress, KeptProgress, PresentedProgress, ProgressKeeper } from './progress-keepers.ts';
import type { LtiLearner } from '../../shared/models/lti-progress.ts';

/**
 * How long a write that came too early waits for those before it: a page that is closed sends all that it has at once,
 * and is not there any more to send one again.
 */
const earlyMs = 500;

/** How often it looks whether they have come through another process. */
const pollIntervalMs = 50;

export interface SessionDependencies {
  db: Database;
  lessons: PreparedLessons;
}

/** A learner's session, for a player. */
type Session = PresentedProgress & { revision: number; attempt: number; versionId: string };

/** What a write led to; `saved` is false when the record had changed since it was read, and nothing was written. */
export interface WriteOutcome {
  saved: boolean;
  session: Session;
}

export interface WriteDependencies extends SessionDependencies {
  /** Hears of records whose scores a platform expects. */
  outboxSignal: { send(learner: LtiLearner): void };
}

/** What one learner, and one organization, may take of this process. */
export interface SessionLimits {
  learnerLines: LearnerLines;
  largeTexts: LargeTexts;
}

/** What of this process a request to a session may use. */
export interface SessionRoom {
  /** Names the learner's record in this process. */
  learner: string;
  /** The request's place in the line of its learner; left when the response is closed. */
  place: LinePlace;
  /** The share of its organization in work on large texts. */
  texts: LargeTextShare;
}

/**
 * Lets a request to a learner's session in. Its place is left when the response is closed.
 *
 * @throws {LecternError} TOO_MANY_REQUESTS where too many requests of the learner are here.
 */
export async function enterSession(
  { learnerLines, largeTexts }: SessionLimits,
  token: PlayerToken,
  response: ServerResponse,
): Promise<SessionRoom> {
  const learner = learnerName(token);
  const place = await learnerLines.enter(learner);
  if (response.closed) place.leave();
  else response.once('close', () => place.leave());
  return { learner, place, texts: largeTexts.share(token.organizationId, response) };
}

/**
 * A learner's progress in the version that is played now. Nothing is stored: a version that was published since the
 * last write changes what is answered, not what is kept.
 *
 * @throws {LecternError} TOO_MANY_REQUESTS where the organization has too much work on large records under way.
 */
export async function readSession(
  deps: SessionDependencies,
  token: PlayerToken,
  versionId: string,
  room: SessionRoom,
): Promise<Session> {
  return inTurn(room, async () => {
    const keeper = progressKeeper(deps.db, token);
    const found = await findHead(keeper, room);
    return room.texts.run(found?.textBytes ?? 0, async () =>
      presentKept(deps, keeper, (await found?.load()) ?? null, versionId),
    );
  });
}

/**
 * Records what a player reports. What is written for a slightly later revision than there is waits a moment for it.
 *
 * @throws {LecternError} NOT_FOUND when the lesson is deleted; INVALID_CONTENT for a version that was never published or
 * is not the token's, and for what does not fit the version; PAYLOAD_TOO_LARGE; TOO_MANY_REQUESTS as
 * {@link readSession}.
 */
export function writeSession(
  deps: WriteDependencies,
  token: PlayerToken,
  write: ProgressWrite,
  room: SessionRoom,
): Promise<WriteOutcome> {
  return inTurn(room, () => writeInTurn(deps, token, write, room));
}

async function writeInTurn(
  deps: WriteDependencies,
  token: PlayerToken,
  write: ProgressWrite,
  { place, texts }: SessionRoom,
): Promise<WriteOutcome> {
  await assertPlayable(deps.db, token, write.versionId);
  const keeper = progressKeeper(deps.db, token);
  const waitUntil = Date.now() + earlyMs;
  for (;;) {
    const found = await findHead(keeper, { place, texts });
    const left = waitUntil - Date.now();
    if (keeper.keeps && isEarly(write, found) && left > 0) {
      // At the same moments for all requests, so that they share a query. MongoDB reads a document as a whole, so a
      // large one is not polled: a write through this process wakes the request, or it looks once more at the end.
      await place.pause(place.recordBytes > 0 ? left : pollIntervalMs - (Date.now() % pollIntervalMs));
      continue;
    }
    const outcome = await texts.run(workOf(write, found), async () =>
      attempt(deps, keeper, (await found?.load()) ?? null, write),
    );
    // Else another write came first: this one is stale now, or was that very write, sent twice.
    if (outcome === null) continue;
    if (outcome.saved && token.kind === 'launch' && keeper.keeps) deps.outboxSignal.send(token);
    return outcome;
  }
}

/** Does a request's work in its turn. */
async function inTurn<T>({ place }: SessionRoom, work: () => Promise<T>): Promise<T> {
  await place.turn();
  try {
    return await work();
  } finally {
    place.done();
  }
}

/** Finds a record without its large texts. Where it is known to be large, that is work on a large text all the same. */
async function findHead(
  keeper: ProgressKeeper,
  { place, texts }: Pick<SessionRoom, 'place' | 'texts'>,
): Promise<FoundProgress | null> {
  const found = await texts.run(place.recordBytes, () => keeper.find());
  place.recordBytes = found?.isLarge === true ? found.textBytes : 0;
  return found;
}

/** Whether the writes before this one may be on their way: no more of them than a learner's line has places for. */
function isEarly(write: ProgressWrite, found: FoundProgress | null): boolean {
  const gap = write.revision - (found?.revision ?? 0);
  return !isRepeated(write, found) && gap > 0 && gap < mostRequests;
}

/** Whether the record holds this very write: a player sends one again whose response was lost. */
function isRepeated(
  { writeId }: ProgressWrite,
  record: Pick<FoundProgress, 'recentWriteIds'> | null,
): boolean {
  return writeId !== undefined && record?.recentWriteIds.includes(writeId) === true;
}

/** Bytes that a write has to work on: a record that is written is parsed and printed, any other one is only sent. */
function workOf({ revision }: ProgressWrite, found: FoundProgress | null): number {
  if (found === null) return 0;
  return found.revision === revision ? 2 * found.textBytes : found.textBytes;
}

/** Null, and nothing changes, when another write came first. */
async function attempt(
  deps: WriteDependencies,
  keeper: ProgressKeeper,
  kept: KeptProgress | null,
  write: ProgressWrite,
): Promise<WriteOutcome | null> {
  const { versionId, revision, writeId } = write;
  const order = keeper.keeps ? attemptOrder(kept ?? { attempt: 1 }, write) : 'current';
  // What is left of an earlier attempt never touches a later one; there is nothing to send again.
  const isDone = isRepeated(write, kept) || order === 'earlier';
  const isStale = order === 'later' || (keeper.keeps && revision !== (kept?.revision ?? 0));
  if (isDone || isStale) {
    return { saved: isDone, session: await presentKept(deps, keeper, kept, versionId) };
  }
  const state = { ...(await stateIn(deps, versionId, kept?.state() ?? null)), revision };
  const next = applyWrite(state, write, await outlineOf(deps.lessons, versionId), new Date());
  return (await keeper.save(next, writeId)) ? { saved: true, session: await present(keeper, next) } : null;
}

/**
 * A player may go on with the version that it has loaded, although a newer one was published meanwhile, or this one was
 * unpublished: what a learner has answered by then is not lost.
 */
async function assertPlayable(db: Database, token: PlayerToken, versionId: string): Promise<void> {
  const { organizationId, lessonId, versionId: pinned } = token;
  const isTokens = pinned === null || pinned === versionId;
  if (isTokens && (await findOncePublished(db, organizationId, lessonId, versionId)) !== null) return;
  await findTokenVersion(db, token);
  const message = isTokens
    ? 'versionId must be a version of the lesson that was published'
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

/** The record in a version; as it was stored where it was written in that one. */
async function presentKept(
  deps: SessionDependencies,
  keeper: ProgressKeeper,
  kept: KeptProgress | null,
  versionId: string,
): Promise<Session> {
  if (kept?.versionId === versionId) {
    const { revision, attempt } = kept;
    return { ...(await kept.presentStored()), revision, attempt, versionId };
  }
  return present(kept ?? keeper, await stateIn(deps, versionId, kept?.state() ?? null));
}

/** @param record what there is, or what the token would write where there is nothing yet */
async function present(record: Pick<ProgressKeeper, 'present'>, state: ProgressState): Promise<Session> {
  const { revision, attempt, versionId } = state;
  return { ...(await record.present(state)), revision, attempt, versionId };
}

/** Names a learner's record in one lesson; a preview has none, and is named by its link. */
export function learnerName(token: PlayerToken): string {
  const { kind, organizationId, lessonId } = token;
  return JSON.stringify([kind, organizationId, lessonId, ...learnerOf(token)]);
}

function learnerOf(token: PlayerToken): (string | number | null)[] {
  switch (token.kind) {
    case 'embed':
      return [token.learnerId];
    case 'launch':
      return [token.platformId, token.contextId, token.ltiUserId];
    case 'preview':
      return [token.versionId, token.issuedAt];
  }
}
