import type { ServerResponse } from 'node:http';
import { setImmediate as otherRequests } from 'node:timers/promises';
import { LecternError } from '../../shared/platform/errors.ts';
import type { Database } from '../../shared/models/database.ts';
import { findOncePublished } from '../../shared/models/lesson-version.ts';
import type { PlayerToken } from '../../shared/tokens/player-tokens.ts';
import type { LessonFacts } from '../../shared/player/prepare-lesson.ts';
import type { PreparedLessons } from '../../shared/player/prepared-lessons.ts';
import { recordedEvent } from '../../shared/events/progress-events.ts';
import type { Subscriptions } from '../../shared/outgoing/subscriptions.ts';
import { carryOver } from '../../shared/progress/carry-over.ts';
import type { LessonOutline } from '../../shared/progress/outline.ts';
import { applyWrite, attemptOrder, initialProgress } from '../../shared/progress/rules.ts';
import type { ProgressState } from '../../shared/progress/state.ts';
import type { ProgressWrite } from '../../shared/progress/write.ts';
import type { Secrets } from '../../shared/platform/secrets.ts';
import type { LargeTexts, LargeTextShare } from '../http/large-texts.ts';
import { assertNotRevoked, findTokenVersion } from './authorize.ts';
import { maxLearnerRequests } from './learner-queues.ts';
import type { LearnerQueues, QueueSlot } from './learner-queues.ts';
import { progressRepository } from './progress-repositories.ts';
import type {
  ProgressHead,
  StoredProgress,
  PresentedProgress,
  ProgressRepository,
} from './progress-repositories.ts';
import type { LtiLearner } from '../../shared/models/lti-progress.ts';

/**
 * How long an early write waits for the writes before it. A page that is closed sends all its writes at once, and
 * cannot retry.
 */
const earlyWaitMs = 500;

/** The interval between checks whether another process has stored the earlier writes. */
const pollIntervalMs = 50;

export interface SessionDependencies {
  db: Database;
  lessons: PreparedLessons;
}

/** A learner's session, as players get it. */
type Session = PresentedProgress & { revision: number; attempt: number; versionId: string };

/** The result of a write. */
export interface WriteOutcome {
  /** False if the record had changed since the player read it: nothing was written. */
  saved: boolean;
  session: Session;
}

export interface WriteDependencies extends SessionDependencies {
  secrets: Pick<Secrets, 'keyPepper'>;
  /** Receives the records whose scores a platform expects. */
  outboxSignal: { send(learner: LtiLearner): void };
  subscriptions: Pick<Subscriptions, 'progressOf'>;
}

/** Limits per learner and per organization in this process. */
export interface SessionLimits {
  learnerQueues: LearnerQueues;
  largeTexts: LargeTexts;
}

/** The resources of this process that a session request holds. */
export interface SessionResources {
  /** Identifies the learner's record. */
  learner: string;
  /** The request's slot in its learner's queue, released when the response is closed. */
  slot: QueueSlot;
  /** The organization's share of the work on large texts. */
  texts: LargeTextShare;
}

/**
 * Queues a request to a learner's session. Its slot is released when the response is closed.
 *
 * @throws {LecternError} TOO_MANY_REQUESTS if the learner has too many concurrent requests.
 */
export async function enterSession(
  { learnerQueues, largeTexts }: SessionLimits,
  token: PlayerToken,
  response: ServerResponse,
): Promise<SessionResources> {
  const learner = learnerName(token);
  const slot = await learnerQueues.enter(learner);
  if (response.closed) slot.leave();
  else response.once('close', () => slot.leave());
  return { learner, slot, texts: largeTexts.share(token.organizationId, response) };
}

/**
 * Returns a learner's progress in the current version, and stores nothing: progress in an older version is adapted in
 * the response only.
 *
 * @throws {LecternError} TOO_MANY_REQUESTS if the organization has too many large records in progress.
 */
export async function readSession(
  deps: SessionDependencies,
  token: PlayerToken,
  versionId: string,
  resources: SessionResources,
): Promise<Session> {
  return inTurn(resources, async () => {
    const repository = progressRepository(deps.db, token);
    const found = await findHead(repository, resources);
    return resources.texts.run(found?.textBytes ?? 0, async () =>
      presentStoredProgress(deps, repository, (await found?.load()) ?? null, versionId),
    );
  });
}

/**
 * Stores a player's write. A write that is a few revisions ahead waits briefly for the writes before it.
 *
 * @throws {LecternError} NOT_FOUND if the lesson is deleted; INVALID_CONTENT for a version that was never published or
 * that the token does not allow, and for a write that does not fit the version; PAYLOAD_TOO_LARGE; TOO_MANY_REQUESTS
 * as {@link readSession}; GONE if the learner's data were erased meanwhile.
 */
export function writeSession(
  deps: WriteDependencies,
  token: PlayerToken,
  write: ProgressWrite,
  resources: SessionResources,
): Promise<WriteOutcome> {
  return inTurn(resources, () => writeInTurn(deps, token, write, resources));
}

async function writeInTurn(
  deps: WriteDependencies,
  token: PlayerToken,
  write: ProgressWrite,
  { slot, texts }: SessionResources,
): Promise<WriteOutcome> {
  await assertPlayable(deps.db, token, write.versionId);
  const repository = progressRepository(deps.db, token);
  const waitUntil = Date.now() + earlyWaitMs;
  for (;;) {
    const found = await findHead(repository, { slot, texts });
    const left = waitUntil - Date.now();
    if (repository.persists && isEarly(write, found) && left > 0) {
      // All requests poll at the same moments, so that they share a query. Large records are not polled, because
      // MongoDB reads a whole document: a write in this process wakes the request, otherwise it checks once at the end.
      await slot.yieldTurn(slot.recordBytes > 0 ? left : pollIntervalMs - (Date.now() % pollIntervalMs));
      continue;
    }
    const outcome = await texts.run(workOf(write, found), async () =>
      storeWrite(deps, token, repository, (await found?.load()) ?? null, write),
    );
    // If null, another write came first: this one is now stale, or a duplicate of it.
    if (outcome === null) continue;
    if (outcome.saved && token.kind === 'launch' && repository.persists) deps.outboxSignal.send(token);
    return outcome;
  }
}

/** Waits for the request's turn and does its work. */
async function inTurn<T>({ slot }: SessionResources, work: () => Promise<T>): Promise<T> {
  await slot.waitForTurn();
  try {
    return await work();
  } finally {
    slot.workDone();
  }
}

/** Finds a record without its large texts. Finding a large record still counts as work on large texts. */
async function findHead(
  repository: ProgressRepository,
  { slot, texts }: Pick<SessionResources, 'slot' | 'texts'>,
): Promise<ProgressHead | null> {
  const found = await texts.run(slot.recordBytes, () => repository.find());
  slot.recordBytes = found?.isLarge === true ? found.textBytes : 0;
  return found;
}

/** Returns whether the writes before this one may still arrive: at most as many as fit into a learner's queue. */
function isEarly(write: ProgressWrite, found: ProgressHead | null): boolean {
  const gap = write.revision - (found?.revision ?? 0);
  return !isRepeated(write, found) && gap > 0 && gap < maxLearnerRequests;
}

/** Returns whether the record contains this write: a player repeats a write if it gets no response. */
function isRepeated(
  { writeId }: ProgressWrite,
  record: Pick<ProgressHead, 'recentWriteIds'> | null,
): boolean {
  return writeId !== undefined && record?.recentWriteIds.includes(writeId) === true;
}

/**
 * Returns whether another device has created the revision that this write's predecessor should have created. The page
 * that sent both writes is closed, so it would not learn that the predecessor was rejected.
 */
function isOvertaken({ after }: ProgressWrite, record: Pick<ProgressHead, 'recentWriteIds'> | null): boolean {
  return after !== undefined && record?.recentWriteIds.includes(after) !== true;
}

/** Returns the bytes to process: a changed record is parsed and printed, other records are only sent. */
function workOf({ revision }: ProgressWrite, found: ProgressHead | null): number {
  if (found === null) return 0;
  return found.revision === revision ? 2 * found.textBytes : found.textBytes;
}

/** Returns null, and changes nothing, if another write came first. */
async function storeWrite(
  deps: WriteDependencies,
  token: PlayerToken,
  repository: ProgressRepository,
  stored: StoredProgress | null,
  write: ProgressWrite,
): Promise<WriteOutcome | null> {
  const { versionId, revision, writeId } = write;
  const order = repository.persists ? attemptOrder(stored ?? { attempt: 1 }, write) : 'current';
  // Late writes of an earlier attempt never change a later one, so the player need not send them again.
  const isDone = isRepeated(write, stored) || order === 'earlier';
  const isStale =
    order === 'later' ||
    (repository.persists && (revision !== (stored?.revision ?? 0) || isOvertaken(write, stored)));
  if (isDone || isStale) {
    return { saved: isDone, session: await presentStoredProgress(deps, repository, stored, versionId) };
  }
  const state = { ...(await stateIn(deps, versionId, stored?.state() ?? null)), revision };
  // To read, change and print the largest records takes 50 to 100 ms each: other requests come between.
  await otherRequests();
  const next = applyWrite(state, write, await outlineOf(deps.lessons, versionId), new Date());
  await otherRequests();
  const wanted = repository.persists ? await deps.subscriptions.progressOf(token.organizationId) : null;
  const recorded = wanted && recordedEvent(wanted, state, next, stored?.announcedAt ?? null);
  if (!(await repository.save(next, { writeId, recorded }))) return null;
  if (next.revision === 1 && repository.persists) await undoIfErased(deps, token, repository);
  return { saved: true, session: await present(repository, next) };
}

/**
 * Removes a new record if the learner's data were erased since the request began. An erasure first revokes tokens, and
 * then removes records: either it removes this record, or the request finds the revocation. Later writes change only
 * records that exist.
 *
 * @throws {LecternError} GONE
 */
async function undoIfErased(
  deps: WriteDependencies,
  token: PlayerToken,
  repository: ProgressRepository,
): Promise<void> {
  try {
    await assertNotRevoked(deps, token);
  } catch (error) {
    if (error instanceof LecternError && error.code === 'GONE') await repository.remove();
    throw error;
  }
}

/**
 * Checks a write's version. A player may continue with the version that it has loaded even if a newer one was published
 * or this one was unpublished, so that no answer is lost.
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

/** Returns the state in a version: the stored one, carried over if it was written in another version. */
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

/** @throws {Error} if the version has no content. */
export async function factsOf(
  lessons: Pick<PreparedLessons, 'facts'>,
  versionId: string,
): Promise<LessonFacts> {
  const facts = await lessons.facts(versionId);
  if (facts === undefined) throw new Error(`version ${versionId} has no content`);
  return facts;
}

/** Presents the record in a version; unparsed if it was written in that version. */
async function presentStoredProgress(
  deps: SessionDependencies,
  repository: ProgressRepository,
  stored: StoredProgress | null,
  versionId: string,
): Promise<Session> {
  if (stored?.versionId === versionId) {
    const { revision, attempt } = stored;
    return { ...(await stored.presentStored()), revision, attempt, versionId };
  }
  return present(stored ?? repository, await stateIn(deps, versionId, stored?.state() ?? null));
}

/** @param record the stored record, or the token's repository if nothing is stored yet */
async function present(record: Pick<ProgressRepository, 'present'>, state: ProgressState): Promise<Session> {
  const { revision, attempt, versionId } = state;
  return { ...(await record.present(state)), revision, attempt, versionId };
}

/** Returns a name for a learner's record in a lesson. Previews have no record, and get a name for each link. */
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
