import { randomUUID } from 'node:crypto';
import { beforeEach, expect, test } from 'vitest';
import { AuditLog } from '../../shared/audit/audit-log.ts';
import type { NewAuditEntry } from '../../shared/audit/audit-log.ts';
import { auditRetentionDays, readAudit } from '../../shared/models/audit-entry.ts';
import { useHarness } from '../support/use.ts';

const harness = useHarness();
const log = { warn: () => undefined };
const writer = () => new AuditLog({ db: harness.db, log });

let organizationId: string;
beforeEach(() => {
  organizationId = randomUUID();
});

const entryOf = (id: string): NewAuditEntry => ({
  ...{ action: 'progress.read', actor: { type: 'key', id: 'lkp_key' }, target: { type: 'lesson', id } },
  ...{ details: {}, ip: null, requestId: null },
});

async function idsOf(): Promise<string[]> {
  const ids: string[] = [];
  for await (const { target } of readAudit(harness.db, organizationId, {})) ids.push(target?.id ?? '');
  return ids;
}

test('a change is stored when its entry resolves, and entries of readings before a graceful shutdown ends', async () => {
  const audit = writer();
  await audit.recordNow(organizationId, entryOf('changed'));
  expect(await idsOf()).toEqual(['changed']);
  for (const name of ['a', 'b', 'c']) audit.record(organizationId, entryOf(name));
  await audit.close();
  expect((await idsOf()).toSorted()).toEqual(['a', 'b', 'c', 'changed']);
});

test('entries with long texts are shortened', async () => {
  const audit = writer();
  const text = '\u0001'.repeat(5_000);
  await audit.recordNow(organizationId, { ...entryOf(text), details: { a: text, b: 7 } });
  expect(await idsOf()).toEqual([text.slice(0, 255)]);
});

test('MongoDB removes entries after 400 days', async () => {
  const indexes = await harness.db.auditEntries.collection.indexes();
  expect(auditRetentionDays).toBe(400);
  expect(indexes).toContainEqual(
    expect.objectContaining({ key: { at: 1 }, expireAfterSeconds: 400 * 24 * 3600 }),
  );
});

type Insert = (typeof harness.db.auditEntries.collection)['insertMany'];

/** Returns a writer whose inserts go through `insert`. */
function writerWith(insert: (stored: () => ReturnType<Insert>) => ReturnType<Insert>): AuditLog {
  const { auditEntries } = harness.db;
  const insertMany = (...args: Parameters<Insert>) =>
    insert(() => auditEntries.collection.insertMany(...args));
  const collection = new Proxy(auditEntries.collection, {
    get: (target, name) => (name === 'insertMany' ? insertMany : (Reflect.get(target, name) as unknown)),
  });
  const entries = new Proxy(auditEntries, {
    get: (target, name) => (name === 'collection' ? collection : (Reflect.get(target, name) as unknown)),
  });
  return new AuditLog({ db: { ...harness.db, auditEntries: entries }, log });
}

test('readings whose insert fails are stored with the next ones, and once if only the acknowledgment was lost', async () => {
  const failures = [
    () => Promise.reject(new Error('no connection')),
    async (store: () => ReturnType<Insert>) => {
      await store();
      throw new Error('connection closed');
    },
  ];
  const audit = writerWith((store) => failures.shift()?.(store) ?? store());
  for (const name of ['a', 'b', 'c']) {
    audit.record(organizationId, entryOf(name));
    await audit.close();
  }
  expect((await idsOf()).toSorted()).toEqual(['a', 'b', 'c']);
});
