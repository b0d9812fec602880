import { randomUUID } from 'node:crypto';
import { LecternError } from '../../shared/platform/errors.ts';
import type { Database } from '../../shared/models/database.ts';
import { findLastErasure } from '../../shared/models/erasure.ts';
import { findOncePublished } from '../../shared/models/lesson-version.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { stateOf } from '../../shared/models/progress-record.ts';
import type { ProgressRecord } from '../../shared/models/progress-record.ts';
import { learnerOfToken } from '../../shared/tokens/player-tokens.ts';
import { pseudonymOf } from '../../shared/tokens/learner-subject.ts';
import type { PlayerToken } from '../../shared/tokens/player-tokens.ts';
import type { PreparedLessons } from '../../shared/player/prepared-lessons.ts';
import type { Subscriptions } from '../../shared/outgoing/subscriptions.ts';
import { carryOver } from '../../shared/progress/carry-over.ts';
import { carryFacts, factsOf, factsSince } from '../../shared/progress/facts.ts';
import type { Facts } from '../../shared/progress/facts.ts';
import { initialProgress, mergeFacts } from '../../shared/progress/merge.ts';
import type { LessonOutline } from '../../shared/progress/outline.ts';
import type { ProgressState } from '../../shared/progress/state.ts';
import { maxAttempts } from '../../shared/progress/write.ts';
import type { ProgressWrite } from '../../shared/progress/write.ts';
import type { Secrets } from '../../shared/platform/secrets.ts';
import { assertNotRevoked, findTokenVersion } from './authorize.ts';
import { progressRepository } from './progress-repositories.ts';
import type { PresentedProgress, ProgressRepository } from './progress-repositories.ts';

export interface SessionDependencies {
  db: Database;
  lessons: PreparedLessons;
}

/** A learner's session, as players get it. */
type Session = PresentedProgress & { attempt: number; attemptCompleted: boolean; versionId: string };

export interface WriteDependencies extends SessionDependencies {
  secrets: Pick<Secrets, 'keyPepper'>;
  subscriptions: Pick<Subscriptions, 'progressOf'>;
}

/**
 * Returns a learner's progress in a version, and stores nothing: progress in another version is adapted in the response
 * only.
 */
export async function readSession(
  deps: SessionDependencies,
  token: PlayerToken,
  versionId: string,
): Promise<Session> {
  const repository = progressRepository(deps.db, token);
  const stored = await repository.find();
  return present(repository, await stateIn(deps.lessons, versionId, stored && stateOf(stored)));
}

/** A write, with the time from which the ages of its facts count, however long it waits. */
type ArrivedWrite = ProgressWrite & { arrivedAt: Date };

/**
 * Merges a player's write into the record, and returns the merged session.
 *
 * @throws {LecternError} NOT_FOUND if the lesson is deleted; INVALID_CONTENT for a version that was never published or
 * that the token does not allow, and for a write that does not fit the version; PAYLOAD_TOO_LARGE; GONE if the learner's
 * data were erased meanwhile.
 */
export async function writeSession(
  deps: WriteDependencies,
  token: PlayerToken,
  write: ArrivedWrite,
): Promise<Session> {
  const version = await findWritable(deps.db, token, write.versionId);
  const repository = progressRepository(deps.db, token);
  const given = { ...write, writeId: write.writeId ?? randomUUID() };
  let merged: ProgressState | null = null;
  while (merged === null) merged = await mergeOnce(deps, token, repository, { version, write: given });
  return present(repository, await stateIn(deps.lessons, version._id, merged));
}

/** Returns the record after a write; null, and changes nothing, if another write came first. */
async function mergeOnce(
  deps: WriteDependencies,
  token: PlayerToken,
  repository: ProgressRepository,
  { version, write }: { version: LessonVersion; write: ArrivedWrite & { writeId: string } },
): Promise<ProgressState | null> {
  const { lessons, subscriptions } = deps;
  const now = new Date();
  const stored = await repository.find();
  const before = await stateForWrite(deps, version, stored, now);
  const outline = await outlineOf(lessons, before.versionId);
  const isNew = stored === null && repository.persists;
  const erasedAt = isNew ? await erasureBefore(deps, token) : (stored?.erasedAt ?? null);
  const facts = await factsIn(lessons, before.versionId, write, {
    ...{ now: write.arrivedAt, writeId: write.writeId, userAttributes: repository.userAttributes },
    attempt: attemptOf(write, before),
  });
  const fresh = erasedAt === null ? facts : factsSince(facts, erasedAt);
  const next = fresh === null ? before : mergeFacts(before, fresh, outline, now);
  if (next === before || !repository.persists) return next;
  const receivers = await subscriptions.progressOf(token.organizationId);
  if (!(await repository.save({ stored, before, next, erasedAt, receivers }))) return null;
  if (isNew) await undoIfErased(deps, token, repository);
  return next;
}

/** Returns the state into which a write is merged: in the newer one of the record's version and the write's. */
async function stateForWrite(
  { db, lessons }: SessionDependencies,
  version: LessonVersion,
  stored: ProgressRecord | null,
  now: Date,
): Promise<ProgressState> {
  if (stored === null) return initialProgress(version._id, await outlineOf(lessons, version._id), now);
  const state = stateOf(stored);
  if (stored.versionId === version._id) return state;
  const { organizationId, lessonId } = stored;
  const current = await findOncePublished(db, organizationId, lessonId, stored.versionId);
  const isNewer = current === null || current.versionNumber < version.versionNumber;
  return isNewer ? stateIn(lessons, version._id, state) : state;
}

/** Returns the facts of a write in a version. */
async function factsIn(
  lessons: PreparedLessons,
  versionId: string,
  write: ProgressWrite,
  context: Parameters<typeof factsOf>[2],
): Promise<Facts> {
  const from = await outlineOf(lessons, write.versionId);
  const facts = factsOf(write, from, context);
  return versionId === write.versionId ? facts : carryFacts(facts, from, await outlineOf(lessons, versionId));
}

/** @throws {LecternError} INVALID_CONTENT for a restart of the last attempt that Lectern counts. */
function attemptOf({ attempt, restart }: ProgressWrite, before: ProgressState): number {
  const begun = attempt ?? before.attempt + (restart ? 1 : 0);
  if (begun <= maxAttempts) return begun;
  throw new LecternError('INVALID_CONTENT', `restart is accepted ${maxAttempts - 1} times`);
}

/**
 * Returns when the learner's data were last erased; null if never. A device that was offline meanwhile may still send
 * older answers.
 */
async function erasureBefore({ db, secrets }: WriteDependencies, token: PlayerToken): Promise<Date | null> {
  const learner = learnerOfToken(token);
  if (learner === null) return null;
  return findLastErasure(db, token.organizationId, pseudonymOf(secrets.keyPepper, learner));
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
 * Returns a write's version. A player may continue with the version that it has loaded even if a newer one was published
 * or this one was unpublished, so that no answer is lost.
 */
async function findWritable(db: Database, token: PlayerToken, versionId: string): Promise<LessonVersion> {
  const { organizationId, lessonId, versionId: pinned } = token;
  const isTokens = pinned === null || pinned === versionId;
  const version = isTokens ? await findOncePublished(db, organizationId, lessonId, versionId) : null;
  if (version !== null) return version;
  await findTokenVersion(db, token);
  const message = isTokens
    ? 'versionId must be a version of the lesson that was published'
    : 'versionId must be the version that the token names';
  throw new LecternError('INVALID_CONTENT', message);
}

/** Returns the state in a version: the stored one, carried over if it was written in another version. */
async function stateIn(
  lessons: PreparedLessons,
  versionId: string,
  stored: ProgressState | null,
): Promise<ProgressState> {
  const outline = await outlineOf(lessons, versionId);
  if (stored === null) return initialProgress(versionId, outline, new Date());
  if (stored.versionId === versionId) return stored;
  return carryOver(stored, await outlineOf(lessons, stored.versionId), versionId, outline);
}

async function outlineOf(lessons: PreparedLessons, versionId: string): Promise<LessonOutline> {
  return (await lessons.knownFacts(versionId)).outline;
}

async function present(repository: ProgressRepository, state: ProgressState): Promise<Session> {
  const { attempt, versionId, finished } = state;
  const attemptCompleted = finished?.isCurrent ?? false;
  return { ...(await repository.present(state)), attempt, attemptCompleted, versionId };
}
