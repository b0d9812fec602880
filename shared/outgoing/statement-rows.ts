import { setImmediate as otherWork } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { WriteEvent } from '../events/progress-events.ts';
import type { Database } from '../models/database.ts';
import type { EventDelivery, NewDelivery } from '../models/event-delivery.ts';
import { findPlatform } from '../models/lti-platform.ts';
import { listDestinations } from '../models/xapi-destination.ts';
import type { XapiDestination } from '../models/xapi-destination.ts';
import type { Logger } from '../platform/log.ts';
import { uuidV5 } from '../platform/uuid.ts';
import { saltOf } from '../xapi/destinations.ts';
import { findVersionText } from '../xapi/find-version-text.ts';
import type { Interaction, VersionText } from '../xapi/interactions.ts';
import { statementsOf } from '../xapi/statements.ts';
import { replaceRows } from './source-rows.ts';

export interface StatementDependencies {
  db: Database;
  /** Without a trailing slash. */
  publicUrl: string;
  pepper: string;
  log: Logger;
}

/** Replaces the writes in the outbox by the statements about them. @param signal ends it after the current write. */
export function makeStatements(deps: StatementDependencies, signal: AbortSignal): Promise<void> {
  const { db } = deps;
  return replaceRows(
    deps,
    {
      kind: 'write',
      receiversOf: (organizationId) => listDestinations(db, [organizationId]),
      rowsFor: (write, destinations) => statementRows(deps, destinations, write),
    },
    signal,
  );
}

/** The maximum length of all texts that a worker caches: enough for at least fifty lessons. */
const maxCachedCharacters = 100_000_000;
/** A write has up to 1,000 answers, whose statements take 0.3 s for each destination. */
const rowsPerTurn = 50;

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
    text: await versionTexts.forceFetch(event.versionId, { context: { db: deps.db, organizationId } }),
  };
  const rows: NewDelivery[] = [];
  for (const destination of destinations) {
    const { _id: targetId, verbs, passingScore } = destination;
    const options = { verbs, passingScore, salt: saltOf(destination, deps.pepper) };
    for (const { verb, statement } of statementsOf(subject, options)) {
      rows.push({
        _id: `xst_${uuidV5(targetId, statement.id)}`,
        kind: 'xapi',
        ...{ organizationId, targetId, type: verb, lessonId, learnerId, platformId, eventAt: at },
        body: JSON.stringify(statement),
      });
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

/** By id of the version. */
const versionTexts = new LRUCache<string, VersionText, { db: Database; organizationId: string }>({
  ...{ maxSize: maxCachedCharacters, sizeCalculation: ({ characters }) => characters + 1 },
  fetchMethod: async (versionId, _stale, { context: { db, organizationId } }) =>
    (await findVersionText(db, { organizationId, versionId })) ?? unknownVersion,
});
