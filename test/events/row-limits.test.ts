import { randomUUID } from 'node:crypto';
import { beforeEach, expect, test } from 'vitest';
import { insertDeliveries } from '../../shared/models/event-delivery.ts';
import type { NewDelivery } from '../../shared/models/event-delivery.ts';
import { publishDueEvents } from '../../shared/outgoing/publish-events.ts';
import type { RowLimits } from '../../shared/outgoing/row-limits.ts';
import { createDestination } from '../../shared/xapi/destinations.ts';
import { createLogger } from '../../shared/platform/log.ts';
import { Player, useLesson } from '../player/player-lessons.ts';
import { buildLearnerToken } from '../support/factories.ts';
import { testPepper } from '../support/harness.ts';
import { useApi } from '../support/use.ts';

/* What happens to events that the outbox has no room for. No worker runs: the tests publish. */

const api = useApi();
const version = useLesson(api);

beforeEach(async () => {
  await api.db.xapiDestinations.deleteMany({});
  await api.db.eventDeliveries.deleteMany({});
  const credentials = { endpoint: 'https://lrs.invalid/', username: 'lectern', password: 'a password' };
  const settings = { version: '1.0.3' as const, verbs: ['progressed' as const], pseudonyms: false };
  const options = { ...credentials, ...settings, passingScore: null };
  await createDestination(api.db, testPepper, api.organization._id, options);
});

/** Publishes all events, with limits that suit a test. Returns the errors that it logs. */
async function publish(limits: Partial<RowLimits> = {}): Promise<string[]> {
  const errors: string[] = [];
  const log = createLogger({ logLevel: 'error' }, 'test', { write: (line) => void errors.push(line) });
  const deps = { db: api.db, log, publicUrl: 'http://localhost', pepper: testPepper };
  const few = { maxWaiting: 1000, maxEnded: 1000, cacheMs: 0, ...limits };
  await publishDueEvents(deps, new AbortController().signal, few);
  return errors;
}

/** Goes to and fro between two steps; returns the revisions of the events. */
async function move(times: number): Promise<number[]> {
  const player = new Player(api.url, version, buildLearnerToken(version, { learnerId: randomUUID() }));
  const revisions: number[] = [];
  for (let revision = 0; revision < times; revision += 1) {
    await player.write({ currentSectionIndex: (revision + 1) % 2 });
    revisions.push(revision + 1);
  }
  return revisions;
}

async function publishedRevisions(): Promise<number[]> {
  const rows = await api.db.eventDeliveries.find({ type: 'progressed' }).lean();
  const bodies = rows.map(({ body }) => JSON.parse(body) as { context: { extensions: object } });
  const revisions = bodies.flatMap(({ context }) => Object.values(context.extensions) as number[]);
  return revisions.toSorted((a, b) => a - b);
}

test('without a worker, a record keeps few events, and none is lost', async () => {
  const revisions = await move(25);
  const record = await api.db.embedProgress.findOne({}).sort({ lastActivityAt: -1 }).lean().orFail();
  expect(record.events?.length).toBeLessThanOrEqual(20);
  await publish();
  expect(await publishedRevisions()).toEqual(revisions);
  expect(await api.db.eventBacklog.countDocuments({})).toBe(0);
});

test('events that the outbox has no room for wait in the backlog, and follow when it has room', async () => {
  const revisions = await move(3);
  await publish({ maxWaiting: 0 });
  expect(await publishedRevisions()).toEqual([]);
  expect(await api.db.eventBacklog.countDocuments({})).toBe(3);
  expect(await api.db.embedProgress.countDocuments({ events: { $exists: true } })).toBe(0);
  await publish();
  expect(await publishedRevisions()).toEqual(revisions);
  expect(await api.db.eventBacklog.countDocuments({})).toBe(0);
});

test('malformed documents stop no other event: they are logged once, and read again after an hour', async () => {
  const { eventBacklog, embedProgress } = api.db;
  const first = await move(1);
  const good = await embedProgress.findOne({}).sort({ lastActivityAt: -1 }).lean().orFail();
  const [event] = good.events ?? [];
  // The oldest of all, so that they come first.
  const old = { ...event, at: new Date(0) };
  const { organizationId, lessonId } = good;
  const owner = { _id: randomUUID(), organizationId, lessonId, learnerId: 'a learner' };
  const details = { answers: [] };
  const faults = [
    { owner: null },
    { owner: 'a text' },
    { event: { ...old, changes: 1 } },
    { event: { ...old, details: { ...details, answers: null } } },
    { event: { ...old, details, versionId: { a: 1 } } },
  ];
  const entries = faults.map((fault) => ({
    ...{ _id: randomUUID(), organizationId, owner, event: old, ...fault },
  }));
  await eventBacklog.collection.insertMany(entries as never);
  const pending: object[] = [
    { events: 'a text' },
    { events: [null] },
    { events: [old], organizationId: 7 },
    { events: [{ ...old, details, versionId: { a: 1 } }] },
  ];
  const records = pending.map((fault) => ({
    ...{ ...good, _id: randomUUID(), learnerId: randomUUID(), eventsDueAt: new Date(0), ...fault },
  }));
  await embedProgress.collection.insertMany(records as never);

  const errors = await publish();
  expect(await publishedRevisions()).toEqual(first);
  expect(errors).toHaveLength(2);
  for (const { _id } of entries) expect(errors[0]).toContain(_id);
  for (const { _id } of records) expect(errors[1]).toContain(_id);
  expect(await publish({ maxWaiting: 0 })).toEqual([]);

  // An hour later, after a repair.
  await eventBacklog.collection.updateMany({}, { $set: { skippedUntil: new Date(), owner, event: old } });
  expect(await publish()).toEqual([]);
  expect(await eventBacklog.countDocuments({})).toBe(0);
  expect(await api.db.eventDeliveries.countDocuments({ learnerId: 'a learner' })).toBe(1);
  await embedProgress.deleteMany({ _id: { $in: records.map(({ _id }) => _id) } });
});

test('the oldest of too many ended rows are deleted, but no waiting ones', async () => {
  const organizationId = api.organization._id;
  const rows = Array.from({ length: 6 }, (_, number): NewDelivery => ({
    ...{ _id: `evt_${randomUUID()}`, kind: 'webhook', organizationId, targetId: 'webhook', type: 'ping' },
    ...{ lessonId: null, learnerId: String(number), platformId: null, eventAt: new Date(), body: '{}' },
  }));
  await insertDeliveries(api.db, rows);
  for (const [number, { _id }] of rows.slice(0, 5).entries()) {
    const createdAt = new Date(Date.now() + number);
    await api.db.eventDeliveries.updateOne({ _id }, { $set: { state: 'idle', createdAt } });
  }
  await move(1);
  await publish({ maxEnded: 2 });
  const left = await api.db.eventDeliveries.find({ type: 'ping' }).lean();
  expect(left.map(({ learnerId }) => learnerId).toSorted()).toEqual(['3', '4', '5']);
});
