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

/** Publishes all events, with limits that suit a test. */
async function publish(limits: Partial<RowLimits> = {}): Promise<void> {
  const { db, config } = api;
  const deps = { db, log: createLogger(config, 'test'), publicUrl: 'http://localhost', pepper: testPepper };
  const few = { maxWaiting: 1000, maxEnded: 1000, cacheMs: 0, ...limits };
  await publishDueEvents(deps, new AbortController().signal, few);
}

/** Goes to and fro between two steps; returns the revisions of the events. */
async function move(times: number): Promise<number[]> {
  const player = new Player(api.url, version, buildLearnerToken(version, { learnerId: randomUUID() }));
  const revisions: number[] = [];
  for (let revision = 0; revision < times; revision += 1) {
    await player.write({ revision, currentSectionIndex: (revision + 1) % 2 });
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
  const revisions = await move(45);
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

test('of too many rows that have ended, the oldest are deleted; no waiting one is', async () => {
  const organizationId = api.organization._id;
  const rows = Array.from({ length: 6 }, (_, number): NewDelivery => ({
    ...{ _id: `evt_${randomUUID()}`, kind: 'webhook', organizationId, targetId: 'webhook', type: 'ping' },
    ...{ lessonId: null, learnerId: String(number), eventAt: new Date(), body: '{}' },
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
