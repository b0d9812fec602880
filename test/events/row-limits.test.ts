import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Model } from 'mongoose';
import { Registry } from 'prom-client';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { trimDeliveries } from '../../shared/models/delivery-limits.ts';
import { insertDeliveries } from '../../shared/models/event-delivery.ts';
import type { NewDelivery } from '../../shared/models/event-delivery.ts';
import { limitRows, startLimitingRows } from '../../shared/outgoing/row-limits.ts';
import { replaceRows } from '../../shared/outgoing/source-rows.ts';
import { makeStatements } from '../../shared/outgoing/statement-rows.ts';
import { createWebhook, spreadMs } from '../../shared/webhooks/manage.ts';
import { createDestination } from '../../shared/xapi/destinations.ts';
import { createLogger } from '../../shared/platform/log.ts';
import { connectRedis } from '../../shared/platform/redis.ts';
import { Player, useLesson } from '../player/player-lessons.ts';
import { ask, jsonOf } from '../support/answers.ts';
import { buildLearnerToken } from '../support/factories.ts';
import { testPepper } from '../support/harness.ts';
import { useApi } from '../support/use.ts';

/* The outbox without a worker: the tests do its work. */

const api = useApi();
const version = useLesson(api);

beforeEach(async () => {
  for (const model of [
    api.db.xapiDestinations,
    api.db.webhooks,
    api.db.eventDeliveries,
  ] as unknown as Model<object>[]) {
    await model.deleteMany({});
  }
  const credentials = { endpoint: 'https://lrs.invalid/', username: 'lectern', password: 'a password' };
  const settings = { version: '1.0.3' as const, verbs: ['progressed' as const], pseudonyms: false };
  await createDestination(api.db, testPepper, api.organization._id, {
    ...credentials,
    ...settings,
    passingScore: null,
  });
});

/** Limits the rows, and returns the errors and warnings that this logs. */
async function limit(maxWaiting: number): Promise<string[]> {
  const lines: string[] = [];
  const log = createLogger({ logLevel: 'warn' }, 'test', { write: (line) => void lines.push(line) });
  await limitRows(api.db, log, maxWaiting);
  // Processes cache who gets events.
  await delay(spreadMs);
  return lines;
}

/** Makes the statements about all writes. Returns the errors that this logs. */
async function make(): Promise<string[]> {
  const errors: string[] = [];
  const log = createLogger({ logLevel: 'error' }, 'test', { write: (line) => void errors.push(line) });
  const deps = { db: api.db, log, publicUrl: 'http://localhost', pepper: testPepper };
  await makeStatements(deps, new AbortController().signal);
  return errors;
}

/** Goes to and fro between two steps, so many times. */
async function move(times: number): Promise<void> {
  const player = new Player(api.url, version, buildLearnerToken(version, { learnerId: randomUUID() }));
  for (let time = 0; time < times; time += 1) await player.write({ currentSectionIndex: (time + 1) % 2 });
}

const count = (filter: object) => api.db.eventDeliveries.countDocuments(filter);

test('each write becomes its statements once, although two workers make them', async () => {
  await move(3);
  expect(await count({ kind: 'write' })).toBe(3);
  expect(await Promise.all([make(), make()])).toEqual([[], []]);
  expect([await count({ type: 'progressed' }), await count({ kind: 'write' })]).toEqual([3, 0]);
});

test('organizations take turns, and workers share the rows', async () => {
  const row = (targetId: string): NewDelivery => ({
    ...{ _id: randomUUID(), kind: 'update', organizationId: targetId, targetId, type: 'update', body: '' },
    ...{ lessonId: null, learnerId: null, platformId: null, eventAt: new Date() },
  });
  const log = createLogger(api.config, 'test');
  const replaced: string[] = [];
  const replace = (durationMs: number, signal = new AbortController().signal) =>
    replaceRows<string>(
      { db: api.db, log },
      {
        kind: 'update',
        receiversOf: () => Promise.resolve(['a receiver']),
        async rowsFor({ targetId }) {
          replaced.push(targetId);
          await delay(durationMs);
          return [];
        },
      },
      signal,
    );
  await insertDeliveries(api.db, ['busy', 'busy', 'busy', 'busy'].map(row));
  await insertDeliveries(api.db, [row('other')]);
  // Longer than a turn.
  await replace(300);
  expect(replaced).toEqual(['busy', 'other', 'busy', 'busy', 'busy']);

  await insertDeliveries(api.db, Array<string>(20).fill('busy').map(row));
  await Promise.all([replace(20), replace(20)]);
  expect(replaced).toHaveLength(25);

  await insertDeliveries(api.db, [row('busy')]);
  await replace(0, AbortSignal.abort());
  expect(await count({ kind: 'update' })).toBe(1);
});

test('while too many events wait, no more are recorded, and the receivers say since when', async () => {
  const organizationId = api.organization._id;
  const settings = {
    url: 'https://receiver.invalid/',
    types: ['progress.started' as const],
    description: '',
  };
  const { webhook } = await createWebhook(api.db, testPepper, organizationId, settings);
  const shown = async () => {
    const read = async (path: string) => jsonOf(await ask(`${api.url}/api${path}`, { headers: api.headers }));
    const hook = (await read(`/webhooks/${webhook._id}`)) as { missedEvents?: object };
    const list = (await read('/xapi-destinations')) as { destinations: { missedEvents?: object }[] };
    return [hook.missedEvents, list.destinations[0]?.missedEvents];
  };
  await move(2);
  expect(await limit(3)).toHaveLength(1);
  expect(await limit(3)).toEqual([]);
  await move(2);
  expect(await count({})).toBe(3);
  const since = expect.stringMatching(/^20/) as string;
  expect(await shown()).toEqual([
    { since, until: null },
    { since, until: null },
  ]);

  await api.db.eventDeliveries.deleteMany({});
  await limit(3);
  await move(2);
  expect(await count({})).toBe(3);
  expect(await shown()).toEqual([
    { since, until: since },
    { since, until: since },
  ]);
});

test('of several workers, one counts the waiting events', async () => {
  await move(2);
  const registries = [new Registry(), new Registry()];
  const { db, config } = api;
  const redis = await connectRedis(api.servers.redisUrl);
  const log = createLogger(config, 'test');
  const workers = registries.map((registry) => startLimitingRows({ db, redis, config, registry, log }));
  onTestFinished(async () => {
    await Promise.all(workers.map((worker) => worker.stop()));
    redis.disconnect();
  });
  const reported = async () =>
    (await Promise.all(registries.map((registry) => registry.getMetricsAsJSON()))).flatMap((metrics) =>
      metrics.flatMap(({ values }) => values.map(({ value }) => value)),
    );
  await expect.poll(async () => (await reported()).filter((value) => value > 0)).toHaveLength(1);
});

test('a write whose statements cannot be made stops no other, and is tried again after an hour', async () => {
  await move(2);
  const [first] = await api.db.eventDeliveries.find({ kind: 'write' }).sort({ nextTryAt: 1 }).lean();
  const { _id, body = '' } = first ?? {};
  await api.db.eventDeliveries.updateOne({ _id }, { $set: { body: '{}' } });
  const [error = ''] = await make();
  expect(error).toContain(_id);
  expect(await count({ type: 'progressed' })).toBe(1);
  expect(await make()).toEqual([]);

  await api.db.eventDeliveries.updateOne({ _id }, { $set: { body, nextTryAt: new Date() } });
  expect(await make()).toEqual([]);
  expect(await count({ type: 'progressed' })).toBe(2);
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
  await trimDeliveries(api.db, new AbortController().signal, 2);
  const left = await api.db.eventDeliveries.find({ type: 'ping' }).lean();
  expect(left.map(({ learnerId }) => learnerId).toSorted()).toEqual(['3', '4', '5']);
});
