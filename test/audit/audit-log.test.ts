import { randomUUID } from 'node:crypto';
import { beforeEach, expect, test } from 'vitest';
import { auditedCaller } from '../../api/http/audit.ts';
import { defineEndpoint } from '../../api/http/endpoint.ts';
import type { EndpointContext } from '../../api/http/endpoint.ts';
import { apiErrors } from '../../api/http/error-format.ts';
import { publicAccess } from '../../api/http/public-access.ts';
import { empty } from '../../api/http/responses.ts';
import { AuditLog, maxWaiting } from '../../shared/audit/audit-log.ts';
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

test('an entry whose acknowledgment was lost is not stored a second time', async () => {
  let isLost = true;
  const audit = writerWith(async (store) => {
    const result = await store();
    if (isLost) {
      isLost = false;
      throw new Error('connection closed');
    }
    return result;
  });
  await expect(audit.recordNow(organizationId, entryOf('once'))).rejects.toThrow('connection closed');
  await audit.recordNow(organizationId, entryOf('next'));
  expect((await idsOf()).toSorted()).toEqual(['next', 'once']);
});

test('while too many entries wait for MongoDB, requests fail before they change anything', async () => {
  let goUp = () => {};
  const isUp = new Promise<void>((resolve) => {
    goUp = resolve;
  });
  const audit = writerWith((store) => isUp.then(store));
  for (let index = 0; index < maxWaiting; index += 1) audit.record(organizationId, entryOf(`e${index}`));
  const { changes, handle } = changing(audit);
  await expect(handle()).rejects.toThrow('wait for MongoDB');
  expect(changes.count).toBe(0);
  // A request that was in progress has changed something.
  const changed = audit.recordNow(organizationId, entryOf('in progress'));
  goUp();
  await changed;
  audit.requireRoom();
  expect(await idsOf()).toHaveLength(maxWaiting + 1);
});

/** Returns how an endpoint that changes something handles a request, and counts the changes. */
function changing(audit: AuditLog) {
  const changes = { count: 0 };
  const endpoint = defineEndpoint(
    {
      ...{
        method: 'delete',
        path: '/thing',
        operationId: 'removeThing',
        tag: 'Things',
        summary: 'Remove it',
      },
      access: publicAccess('DELETE'),
      errors: apiErrors(),
      audit: 'lesson.delete',
      responses: { 204: empty('It is gone.') },
    },
    () => () => {
      changes.count += 1;
      return { status: 204 as const };
    },
  );
  const ctx = { req: { complete: true } } as EndpointContext;
  auditedCaller.set(ctx, { organizationId, actor: entryOf('').actor });
  const handle = endpoint.createHandler({ audit } as never);
  return { changes, handle: () => handle(ctx) };
}
