import { randomUUID } from 'node:crypto';
import mongoose from 'mongoose';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { insertDeliveries } from '../../shared/models/event-delivery.ts';
import { findOrCreateScore } from '../../shared/models/lti-score.ts';
import { revokeTokens } from '../../shared/models/token-revocation.ts';
import type { LearnerSubject } from '../../shared/tokens/learner-subject.ts';
import { Player } from '../player/player-lessons.ts';
import { buildLaunchToken, buildLearnerToken } from '../support/factories.ts';
import { testPepper } from '../support/harness.ts';
import type { Harness } from '../support/harness.ts';
import type { Api } from '../support/use.ts';

/** A learner with a record of every kind, in which each text that the learner or the integrator wrote is a marker. */
export interface MarkedLearner {
  subject: LearnerSubject;
  token: string;
  player: Player;
  /** Texts that an erasure must remove. */
  markers: string[];
  /** Texts that an export must not contain. */
  hidden: string[];
}

type Db = Harness['db'];

/**
 * Creates a learner with records of every kind: progress with answers, state and attributes, a revocation, events that
 * were delivered, wait, or wait for room, and for LTI a sent grade.
 */
export async function plantLearner(
  api: Pick<Api, 'db' | 'url'>,
  version: LessonVersion,
  {
    source,
    id = `id-${randomUUID()}`,
    platformId = randomUUID(),
  }: { source: 'embed' | 'lti'; id?: string; platformId?: string },
): Promise<MarkedLearner> {
  const { organizationId, lessonId } = version;
  const marker = (name: string) => `${name}-${randomUUID()}`;
  const [attribute, state, variable, answer] = ['attribute', 'state', 'variable', 'answer'].map(marker);
  const response = marker('response');
  const contextId = marker('context');
  const token =
    source === 'embed'
      ? buildLearnerToken(version, { learnerId: id, userAttributes: JSON.stringify({ attribute }) })
      : buildLaunchToken(version, { ltiUserId: id, platformId, contextId });
  const player = new Player(api.url, version, token);
  await player.write({
    ...{ currentSectionIndex: 1, currentStepIndex: 0 },
    ...{ progressData: { state }, variableState: { variable } },
    items: [{ widgetId: 'dial', answer: { answer } }],
  });
  const row = {
    ...{ organizationId, targetId: randomUUID(), lessonId, learnerId: id, eventAt: new Date() },
    ...{ platformId: source === 'lti' ? platformId : null, body: JSON.stringify({ learner: id, answer }) },
  };
  await insertDeliveries(api.db, [
    { _id: `evt_${randomUUID()}`, kind: 'webhook', type: 'progress.scored', ...row },
    { _id: `xst_${randomUUID()}`, kind: 'xapi', type: 'answered', ...row },
    { _id: randomUUID(), kind: 'write', type: 'write', ...row },
  ]);
  const attempt = { at: new Date(), milliseconds: 1, status: 400, error: response, response };
  const failure = { at: new Date(), since: new Date(), reason: 'rejected', status: 400, body: response };
  await api.db.eventDeliveries.collection.updateMany(
    { targetId: row.targetId },
    { $set: { failure, attempts: [attempt], fieldOfAnotherRelease: response } },
  );
  await revokeTokens(
    api.db,
    testPepper,
    { organizationId, lessonId: randomUUID(), learnerId: id },
    new Date(),
  );
  if (source === 'lti')
    await plantGrade(api.db, { organizationId, lessonId, ltiUserId: id, platformId, contextId }, response);
  const subject: LearnerSubject =
    source === 'embed'
      ? { source, organizationId, learnerId: id }
      : { source, organizationId, platformId, ltiUserId: id };
  const markers = [id, state, variable, answer, response, ...(source === 'embed' ? [attribute] : [])];
  return { subject, token, player, markers: markers as string[], hidden: [response, row.targetId] };
}

/** Returns the path of a learner, or of an action such as `/export`. */
export function pathOf({ subject }: MarkedLearner, query: Record<string, string> = {}, action = ''): string {
  if (subject.source === 'embed') {
    return `/api/learners/${subject.learnerId}${action}?${new URLSearchParams(query).toString()}`;
  }
  const { ltiUserId, platformId } = subject;
  return `/api/lti-learners/${ltiUserId}${action}?${new URLSearchParams({ platformId, ...query }).toString()}`;
}

/** Returns the fields that identify a learner in records. */
export function ofSubject({ subject }: MarkedLearner) {
  if (subject.source === 'embed') return { learnerId: subject.learnerId };
  return { ltiUserId: subject.ltiUserId, platformId: subject.platformId };
}

async function plantGrade(
  db: Db,
  learner: {
    organizationId: string;
    lessonId: string;
    ltiUserId: string;
    platformId: string;
    contextId: string;
  },
  response: string,
): Promise<void> {
  const { _id } = await findOrCreateScore(db, { ...learner, linkId: randomUUID() });
  const at = new Date();
  const sent = {
    ...{
      scoreGiven: 1,
      scoreMaximum: 1,
      finishedAt: at,
      timestamp: at,
      at,
      lineItemUrl: `https://lms.example/${response}`,
    },
    response: { status: 200, body: response },
  };
  await db.ltiScores.updateOne({ _id }, { $set: { sent } });
}

/** Returns which markers the bytes of MongoDB contain, with the collections. */
export async function findMarkers(db: Db, markers: readonly string[]): Promise<string[]> {
  const found = new Set<string>();
  for (const collection of (await db.connection.db?.collections()) ?? []) {
    for await (const document of collection.find({}, { raw: true })) {
      const bytes = document as unknown as Buffer;
      for (const marker of markers) {
        if (bytes.includes(marker)) found.add(`${collection.collectionName}: ${marker}`);
      }
    }
  }
  return [...found];
}

async function collectionsOf(db: Db, names: readonly string[] | undefined) {
  const collections = (await db.connection.db?.collections()) ?? [];
  return collections.filter(({ collectionName }) => names?.includes(collectionName) ?? true);
}

/** Returns the bytes of all documents, as a dump has them. @param names only these collections. */
export async function dumpOf(db: Db, names?: readonly string[]): Promise<Map<string, Buffer[]>> {
  const dump = new Map<string, Buffer[]>();
  for (const collection of await collectionsOf(db, names)) {
    const documents = await collection.find({}, { raw: true }).toArray();
    dump.set(collection.collectionName, documents as unknown as Buffer[]);
  }
  return dump;
}

/** Replaces all documents by those of a dump. @param names only in these collections. */
export async function restore(
  db: Db,
  dump: ReadonlyMap<string, readonly Buffer[]>,
  names?: readonly string[],
): Promise<void> {
  for (const collection of await collectionsOf(db, names)) {
    await collection.deleteMany({});
    const documents = (dump.get(collection.collectionName) ?? []).map((bytes) =>
      mongoose.mongo.BSON.deserialize(bytes),
    );
    if (documents.length > 0) await collection.insertMany(documents);
  }
}
