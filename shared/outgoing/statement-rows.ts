import { setImmediate as otherWork } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { WriteEvent } from '../events/progress-events.ts';
import type { Database } from '../models/database.ts';
import { findDueEventTargets, insertDeliveries, writeKind } from '../models/event-delivery.ts';
import type { EventDelivery, NewDelivery } from '../models/event-delivery.ts';
import { findPlatform } from '../models/lti-platform.ts';
import { findWrites, hasWrite, postponeWrite, removeWrite } from '../models/recorded-writes.ts';
import { listDestinations } from '../models/xapi-destination.ts';
import type { XapiDestination } from '../models/xapi-destination.ts';
import { isDatabaseError } from '../platform/mongo.ts';
import type { Logger } from '../platform/log.ts';
import { uuidV5 } from '../platform/uuid.ts';
import { saltOf } from '../xapi/destinations.ts';
import { findVersionText } from '../xapi/find-version-text.ts';
import type { Interaction, VersionText } from '../xapi/interactions.ts';
import { statementsOf } from '../xapi/statements.ts';

export interface StatementDependencies {
  db: Database;
  /** Without a trailing slash. */
  publicUrl: string;
  pepper: string;
  log: Logger;
}

/** MongoDB's driver prints all rows of an insert at once. */
const rowsPerInsert = 250;

/** Writes per query: each has 200 kB at most. */
const batchSize = 10;

/** The retry delay for a write whose statements cannot be made: another release may be able to. */
const retryMs = 3_600_000;

/** How long one call goes on: what is left waits for the next one, so that the statements of others are sent meanwhile. */
const turnMs = 1_000;

/**
 * Replaces the writes in the outbox by the statements about them, a few of each organization in turn. The statements' ids
 * follow from the write's, so a repeated one adds nothing.
 *
 * @param signal ends it after the current write.
 */
export async function makeStatements(deps: StatementDependencies, signal: AbortSignal): Promise<void> {
  const { db } = deps;
  const endsAt = performance.now() + turnMs;
  for (let isLast = false; !isLast;) {
    const due = await findDueEventTargets(db, writeKind);
    isLast = due.length === 0;
    for (const { target: organizationId } of due) {
      const destinations = await listDestinations(db, [organizationId]);
      for (const write of await findWrites(db, organizationId, batchSize)) {
        if (signal.aborted || performance.now() > endsAt) return;
        await replaceWrite(deps, write, destinations);
      }
    }
  }
}

/**
 * Not one transaction, because thousands of rows may not fit into MongoDB's cache. Reading the lesson may take long, so an
 * erasure may have removed the write meanwhile.
 */
async function replaceWrite(
  deps: StatementDependencies,
  write: EventDelivery,
  destinations: readonly XapiDestination[],
): Promise<void> {
  const { db, log } = deps;
  try {
    const rows = destinations.length > 0 ? await statementRows(deps, destinations, write) : [];
    while (rows.length > 0 && (await hasWrite(db, write._id)))
      await insertDeliveries(db, rows.splice(0, rowsPerInsert));
    await removeWrite(db, write._id);
  } catch (error) {
    // Other errors are about this write only.
    if (isDatabaseError(error)) throw error;
    log.error(
      { err: error, write: write._id },
      'the statements about a write cannot be made; retried after an hour',
    );
    await postponeWrite(db, write._id, new Date(Date.now() + retryMs));
  }
}

/** The maximum length of all texts that a worker caches: enough for at least fifty lessons. */
const maxCachedCharacters = 100_000_000;
/** A write has up to 1,000 answers, whose statements take 0.3 s for each destination. */
const rowsPerTurn = 50;

const caches = new WeakMap<Database, LRUCache<string, VersionText>>();

const unknownVersion: VersionText = {
  ...{ title: '', language: 'und', steps: [], interactions: new Map<string, Interaction>() },
  characters: 0,
};

async function statementRows(
  deps: StatementDependencies,
  destinations: readonly XapiDestination[],
  write: EventDelivery,
): Promise<NewDelivery[]> {
  const { _id: writeId, organizationId, lessonId, learnerId, platformId, eventAt: at, body } = write;
  const { recordId, event } = JSON.parse(body) as { recordId: string; event: Omit<WriteEvent, 'at'> };
  if (lessonId === null || learnerId === null) return [];
  const subject = {
    ...{ writeId, recordId, lessonId, learnerId, event: { ...event, at }, publicUrl: deps.publicUrl },
    homePage: await homePageOf(deps, platformId),
    text: await cachedVersionText(deps.db, { organizationId, versionId: event.versionId }),
  };
  const rows: NewDelivery[] = [];
  for (const destination of destinations) {
    const { _id: targetId, verbs, passingScore } = destination;
    const options = { verbs, passingScore, salt: saltOf(destination, deps.pepper) };
    let place = 0;
    for (const { verb, statement } of statementsOf(subject, options)) {
      rows.push({
        _id: `xst_${uuidV5(targetId, statement.id)}`,
        kind: 'xapi',
        ...{ organizationId, targetId, type: verb, lessonId, learnerId, platformId, eventAt: at },
        sequence: { id: writeId, place },
        body: JSON.stringify(statement),
      });
      place += 1;
      if (rows.length % rowsPerTurn === 0) await otherWork();
    }
  }
  return rows;
}

async function homePageOf(
  { db, publicUrl }: StatementDependencies,
  platformId: string | null,
): Promise<string> {
  if (platformId === null) return publicUrl;
  const issuer = (await findPlatform(db, platformId))?.issuer;
  return issuer ?? `${publicUrl}/lti/platforms/${encodeURIComponent(platformId)}`;
}

async function cachedVersionText(
  db: Database,
  of: { organizationId: string; versionId: string },
): Promise<VersionText> {
  const cache = caches.get(db) ?? newCache();
  caches.set(db, cache);
  const cached = cache.get(of.versionId);
  if (cached !== undefined) return cached;
  const text = (await findVersionText(db, of)) ?? unknownVersion;
  cache.set(of.versionId, text);
  return text;
}

function newCache(): LRUCache<string, VersionText> {
  return new LRUCache({ maxSize: maxCachedCharacters, sizeCalculation: ({ characters }) => characters + 1 });
}
