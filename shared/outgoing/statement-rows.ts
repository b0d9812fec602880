import { setImmediate as otherWork } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { ProgressEvent } from '../events/progress-events.ts';
import type { Database } from '../models/database.ts';
import type { NewDelivery } from '../models/event-delivery.ts';
import { findPlatform } from '../models/lti-platform.ts';
import type { XapiDestination } from '../models/xapi-destination.ts';
import { uuidV5 } from '../platform/uuid.ts';
import { saltOf } from '../xapi/destinations.ts';
import { findVersionText } from '../xapi/find-version-text.ts';
import type { Interaction, VersionText } from '../xapi/interactions.ts';
import { statementsOf } from '../xapi/statements.ts';

/** A learner's write, for xAPI statements. */
export interface RecordedWrite {
  recordId: string;
  organizationId: string;
  lessonId: string;
  learnerId: string;
  /** The platform of an LTI user; null for a learner of an integrator. */
  platformId: string | null;
  event: ProgressEvent;
}

export interface StatementDependencies {
  db: Database;
  /** Without a trailing slash. */
  publicUrl: string;
  pepper: string;
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

/**
 * Returns the outbox rows of the statements about a write.
 *
 * @param homePages the home pages of known platforms, by platform.
 */
export async function statementRows(
  deps: StatementDependencies,
  destinations: readonly XapiDestination[],
  write: RecordedWrite,
  homePages: Map<string, string>,
): Promise<NewDelivery[]> {
  const targets = destinations.filter(({ organizationId }) => organizationId === write.organizationId);
  if (targets.length === 0 || write.event.details === undefined) return [];
  const { recordId, lessonId, learnerId, event } = write;
  const subject = {
    ...{ recordId, lessonId, learnerId, event, publicUrl: deps.publicUrl },
    homePage: await homePageOf(deps, homePages, write.platformId),
    text: await cachedVersionText(deps.db, {
      organizationId: write.organizationId,
      versionId: event.versionId,
    }),
  };
  const rows: NewDelivery[] = [];
  for (const destination of targets) {
    const { verbs, passingScore } = destination;
    const options = { verbs, passingScore, salt: saltOf(destination, deps.pepper) };
    let place = 0;
    for (const { verb, statement } of statementsOf(subject, options)) {
      rows.push(rowOf(destination, write, { verb, statement, place }));
      place += 1;
      if (rows.length % rowsPerTurn === 0) await otherWork();
    }
  }
  return rows;
}

function rowOf(
  { _id: targetId, organizationId }: XapiDestination,
  { recordId, lessonId, learnerId, platformId, event }: RecordedWrite,
  { verb, statement, place }: { verb: string; statement: { id: string }; place: number },
): NewDelivery {
  return {
    _id: `xst_${uuidV5(targetId, statement.id)}`,
    kind: 'xapi',
    ...{ organizationId, targetId, type: verb, lessonId, learnerId, platformId, eventAt: event.at },
    sequence: { id: `${recordId}:${event.revision}`, place },
    body: JSON.stringify(statement),
  };
}

async function homePageOf(
  { db, publicUrl }: StatementDependencies,
  known: Map<string, string>,
  platformId: string | null,
): Promise<string> {
  if (platformId === null) return publicUrl;
  const issuer = known.get(platformId) ?? (await findPlatform(db, platformId))?.issuer;
  const homePage = issuer ?? `${publicUrl}/lti/platforms/${encodeURIComponent(platformId)}`;
  known.set(platformId, homePage);
  return homePage;
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
