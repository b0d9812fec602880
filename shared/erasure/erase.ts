import type { AuditDetails } from '../models/audit-entry.ts';
import type { Database } from '../models/database.ts';
import {
  advanceErasure,
  claimErasure,
  claimNextErasure,
  createErasure,
  findErasure,
  recordCounts,
  recordDownstream,
  recordLessons,
} from '../models/erasure.ts';
import type { ClaimedErasure, Downstream, Erasure, ErasureMode, LedgerEntry } from '../models/erasure.ts';
import { areNone, countRecords, forAllKinds, lessonsOf, removeRecords } from '../models/learner-records.ts';
import type { RecordCounts } from '../models/learner-records.ts';
import { forgetStatistics } from '../models/lesson-statistics.ts';
import { findPlatform } from '../models/lti-platform.ts';
import { countSentScores } from '../models/lti-score.ts';
import { revokeErased } from '../models/token-revocation.ts';
import { listWebhooks } from '../models/webhook.ts';
import { listDestinations } from '../models/xapi-destination.ts';
import { publishErasure } from '../outgoing/publish-events.ts';
import type { NameSet } from '../storage/store.ts';
import { pseudonymOf } from '../tokens/learner-subject.ts';
import type { LearnerSubject } from '../tokens/learner-subject.ts';
import { anonymizeRecords } from './anonymize.ts';

/*
 * Erases what Lectern holds about a learner. A process may stop between any two steps: each is idempotent, and another
 * process repeats the steps of the erasure's state.
 *
 *     request:   reject the tokens that were signed up to now
 *     removing:  add to the ledger, note which systems hold data, count and remove the records
 *     settling:  wait for requests and workers that had read the records, and remove what they wrote
 *     finished:  report to webhooks, and forget the learner's ids
 */

/**
 * Longer than a request or a worker takes from reading a record to writing it: a few operations in sequence, each with
 * a timeout of 15 seconds.
 */
export const settleMs = 60_000;

const retryMs = 10_000;

/** How long an erasure that removed nothing is kept. Without this limit, unknown ids could fill the ledger. */
const emptyKeptMs = 30 * 24 * 3600_000;

export interface ErasureDependencies {
  db: Database;
  store: { erasures: NameSet };
  /** The key pepper. */
  pepper: string;
  settleMs?: number;
}

/** Returns the records that an erasure would remove, and the other systems that may hold data. */
export async function previewErasure(
  db: Database,
  learner: LearnerSubject,
): Promise<{ removed: RecordCounts; downstream: Downstream }> {
  return { removed: await countRecords(db, learner), downstream: await downstreamOf(db, learner) };
}

/**
 * Requests an erasure. Lectern rejects all tokens that were signed before the request. A worker removes the records.
 *
 * @returns the erasure, or the unfinished one of the same learner.
 */
export async function requestErasure(
  { db, pepper }: Pick<ErasureDependencies, 'db' | 'pepper'>,
  learner: LearnerSubject,
  {
    mode = 'erase',
    requestedAt = new Date(),
    until = null,
  }: { mode?: ErasureMode; requestedAt?: Date; until?: Date | null } = {},
): Promise<Erasure> {
  const { organizationId } = learner;
  const pseudonym = pseudonymOf(pepper, learner);
  const fields = { organizationId, pseudonym, mode, learner, requestedAt, until };
  const erasure = await createErasure(db, fields);
  await revokeErased(db, erasure, erasure.requestedAt);
  return erasure;
}

/**
 * Returns a function that continues a due erasure. The organizations take turns, so that one with thousands of erasures
 * does not delay others. It resolves to false if none was due, and rejects if MongoDB or the store does not respond;
 * the erasure is due again soon.
 */
export function erasuresInTurn(deps: ErasureDependencies): () => Promise<boolean> {
  let last = '';
  return async () => {
    const erasure = await claimNextErasure(deps.db, last);
    if (erasure === null) return false;
    last = erasure.organizationId;
    await continueErasure(deps, erasure);
    return true;
  };
}

async function continueErasure(deps: ErasureDependencies, erasure: ClaimedErasure): Promise<void> {
  try {
    await takeNextStep(deps, erasure);
  } catch (error) {
    await advanceErasure(deps.db, erasure, { dueAt: new Date(Date.now() + retryMs) }).catch(() => undefined);
    throw error;
  }
}

async function takeNextStep(deps: ErasureDependencies, erasure: ClaimedErasure): Promise<void> {
  const { db, store } = deps;
  const { _id, learner, state, mode, requestedAt, until } = erasure;
  if (learner === null) throw new Error('an unfinished erasure must name its learner');
  if (state === 'removing') {
    // The process that got the request may have died before it did so.
    await revokeErased(db, erasure, requestedAt);
    const counts = await countRecords(db, learner, until);
    if (!areNone(counts)) await addToLedger(store.erasures, erasure);
    await recordDownstream(db, _id, await downstreamOf(db, learner));
    await recordCounts(db, _id, 'removed', counts);
    const lessonIds = await lessonsOf(db, learner, until);
    await recordLessons(db, _id, lessonIds);
    if (mode === 'anonymize') await anonymizeRecords(db, learner);
    await removeRecords(db, learner, until);
    await forgetStatistics(db, lessonIds);
    const dueAt = new Date(Date.now() + (deps.settleMs ?? settleMs));
    await advanceErasure(db, erasure, { state: 'settling', dueAt });
    return;
  }
  const late = await countRecords(db, learner, until);
  if (!areNone(late)) await addToLedger(store.erasures, erasure);
  await recordCounts(db, _id, 'removedLate', late);
  const lessonIds = [...erasure.lessonIds, ...(await lessonsOf(db, learner, until))];
  await removeRecords(db, learner, until);
  // Repeated: a worker may have counted records before they were removed, and the process may have died before this.
  await forgetStatistics(db, lessonIds);
  await publishErasure(db, { id: _id, at: requestedAt }, learner);
  const finishedAt = new Date();
  const hasRemoved = ![erasure.removed, erasure.removedLate, late].every(areNone);
  const expiresAt = hasRemoved ? null : new Date(finishedAt.getTime() + emptyKeptMs);
  await advanceErasure(db, erasure, {
    state: 'finished',
    ...{ learner: null, dueAt: null, finishedAt, expiresAt, lessonIds: [] },
  });
}

/** Continues an erasure until it is finished, for commands. @param signal ends it early; a worker continues then. */
export async function finishErasure(
  deps: ErasureDependencies,
  { _id, organizationId }: Pick<Erasure, '_id' | 'organizationId'>,
  { wait }: { wait: (milliseconds: number) => Promise<void> },
): Promise<Erasure> {
  for (;;) {
    const claimed = await claimErasure(deps.db, _id);
    if (claimed !== null) await continueErasure(deps, claimed);
    const erasure = await findErasure(deps.db, organizationId, _id);
    if (erasure === null) throw new Error('the erasure is gone');
    if (erasure.state === 'finished') return erasure;
    await wait(Math.min(1_000, deps.settleMs ?? settleMs));
  }
}

/** Returns the systems that may hold data about a learner, as far as Lectern knows them. */
export async function downstreamOf(db: Database, learner: LearnerSubject): Promise<Downstream> {
  const { organizationId } = learner;
  const [destinations, webhooks] = await Promise.all([
    listDestinations(db, [organizationId]),
    listWebhooks(db, [organizationId]),
  ]);
  return {
    gradebooks: learner.source === 'lti' ? await gradebooksOf(db, learner) : [],
    recordStores: destinations.map(({ _id, endpoint }) => ({ destinationId: _id, endpoint })),
    webhooks: webhooks.map(({ _id, url, types, disabled }) => ({
      ...{ webhookId: _id, url },
      isNotified: disabled === null && types.includes('learner.erased'),
    })),
  };
}

async function gradebooksOf(
  db: Database,
  learner: LearnerSubject & { source: 'lti' },
): Promise<Downstream['gradebooks']> {
  const grades = await countSentScores(db, learner);
  if (grades === 0) return [];
  const { platformId } = learner;
  return [{ platformId, issuer: (await findPlatform(db, platformId))?.issuer ?? '', grades }];
}

/** Returns the details of an erasure's entry in the audit log. */
export function auditedErasure({ _id: erasureId, mode }: Erasure): AuditDetails {
  return { erasureId, mode, isDryRun: false };
}

/** Returns the report of an erasure for the API and the command line. It names no learner. */
export function presentReport(erasure: Erasure) {
  const { _id: id, mode, state, requestedAt, finishedAt, downstream } = erasure;
  const removed = forAllKinds((kind) => erasure.removed[kind] + erasure.removedLate[kind]);
  return {
    ...{ id, mode, state },
    requestedAt: requestedAt.toISOString(),
    finishedAt: finishedAt?.toISOString() ?? null,
    ...{ removed, downstream },
  };
}

/*
 * The ledger of erasures says which learners' data were erased, and when, by pseudonym. MongoDB has the ledger, and the
 * store has a copy, because a restore of MongoDB brings back erased data together with an older ledger. Each file name
 * in the store is a complete entry.
 */

export async function addToLedger(names: NameSet, entry: LedgerEntry): Promise<void> {
  const { organizationId, pseudonym, requestedAt } = entry;
  await names.add(`${organizationId}.${requestedAt.getTime()}.${pseudonym}`);
}

/** Yields the entries of the store's copy. Other files in its folder are skipped. */
export async function* readLedger(names: NameSet): AsyncGenerator<LedgerEntry> {
  for await (const page of names.list()) {
    for (const name of page) {
      const [, organizationId, at, pseudonym] = /^([0-9a-f-]{36})\.(\d{1,15})\.([\w-]{43})$/.exec(name) ?? [];
      if (organizationId === undefined || pseudonym === undefined) continue;
      yield { organizationId, pseudonym, requestedAt: new Date(Number(at)) };
    }
  }
}
