import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import { auditedCaller } from '../../api/http/audit.ts';
import { defineEndpoint } from '../../api/http/endpoint.ts';
import type { EndpointContext } from '../../api/http/endpoint.ts';
import { apiErrors } from '../../api/http/error-format.ts';
import { publicAccess } from '../../api/http/public-access.ts';
import { empty } from '../../api/http/responses.ts';
import { AuditLog, maxEntriesPerOrganization } from '../../shared/audit/audit-log.ts';
import type { NewAuditEntry } from '../../shared/audit/audit-entry.ts';
import { auditRetentionDays, pruneAudit, readAudit, verifyAudit } from '../../shared/audit/read-audit.ts';
import { testPepper } from '../support/harness.ts';
import { useHarness } from '../support/use.ts';

const harness = useHarness();
const log = { warn: () => undefined };
const writer = () => new AuditLog({ db: harness.db, pepper: testPepper, log });

let organizationId: string;
beforeEach(() => {
  organizationId = randomUUID();
});

const entryOf = (id: string): NewAuditEntry => ({
  ...{ action: 'progress.read', actor: { type: 'key', id: 'lkp_key' }, target: { type: 'lesson', id } },
  ...{ details: {}, ip: null, requestId: null },
});

const verify = (head?: { sequence: number; hash: string }) =>
  verifyAudit(harness.db, testPepper, organizationId, head);

async function idsOf(): Promise<string[]> {
  const ids: string[] = [];
  for await (const { target } of readAudit(harness.db, organizationId, {})) ids.push(target?.id ?? '');
  return ids;
}

/** Writes entries, each in a separate block. */
async function writeBlocks(count: number): Promise<void> {
  const audit = writer();
  for (let index = 1; index <= count; index += 1) await audit.recordNow(organizationId, entryOf(`e${index}`));
}

test('concurrent writers of several processes extend one intact chain, and lose no entry', async () => {
  const writers = Array.from({ length: 4 }, writer);
  const names = Array.from({ length: 40 }, (_, index) => `e${index}`);
  await Promise.all(
    names.map(async (name, index) => writers[index % 4]?.recordNow(organizationId, entryOf(name))),
  );
  expect((await idsOf()).toSorted()).toEqual(names.toSorted());
  const { fault, entries, head } = await verify();
  const blocks = await harness.db.auditBlocks.countDocuments({ organizationId });
  expect({ fault, entries, sequence: head.sequence }).toEqual({
    fault: null,
    entries: 40,
    sequence: blocks,
  });
});

test('entries that need not be stored at once share a block, and a graceful shutdown stores them', async () => {
  const audit = writer();
  for (const name of ['a', 'b', 'c']) await audit.record(organizationId, entryOf(name));
  await audit.close();
  expect(await idsOf()).toEqual(['a', 'b', 'c']);
  expect(await harness.db.auditBlocks.countDocuments({ organizationId })).toBe(1);
});

test('entries with long texts are shortened, and get blocks that MongoDB accepts', async () => {
  const audit = writer();
  // Control characters are the longest in JSON. These entries have 24 MB before they are cut.
  const text = '\u0001'.repeat(5_000);
  const details = Object.fromEntries(['a', 'b', 'c'].map((name) => [name, text]));
  const entries = Array.from({ length: 200 }, () => ({ ...entryOf(text), details }));
  await Promise.all(entries.map((entry) => audit.record(organizationId, entry)));
  await audit.close();
  expect(await idsOf()).toEqual(entries.map(() => text.slice(0, 255)));
  const blocks = await harness.db.auditBlocks.find({ organizationId });
  const bytes = blocks.map((block) => Buffer.byteLength(block.entries));
  expect(blocks.length).toBeGreaterThan(1);
  expect(Math.max(...bytes)).toBeLessThan(1.1 * 1024 ** 2);
  expect((await verify()).fault).toBeNull();
});

type Insert = (typeof harness.db.auditBlocks.collection)['insertOne'];

/** Returns a writer whose inserts go through `insert`. */
function writerWith(insert: (stored: () => ReturnType<Insert>) => ReturnType<Insert>): AuditLog {
  const { auditBlocks } = harness.db;
  const insertOne = (...args: Parameters<Insert>) => insert(() => auditBlocks.collection.insertOne(...args));
  const collection = new Proxy(auditBlocks.collection, {
    get: (target, name) => (name === 'insertOne' ? insertOne : (Reflect.get(target, name) as unknown)),
  });
  const blocks = new Proxy(auditBlocks, {
    get: (target, name) => (name === 'collection' ? collection : (Reflect.get(target, name) as unknown)),
  });
  return new AuditLog({ db: { ...harness.db, auditBlocks: blocks }, pepper: testPepper, log });
}

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

test('an organization whose entries wait is limited before it changes anything, and others are not', async () => {
  let goUp = () => {};
  const isUp = new Promise<void>((resolve) => {
    goUp = resolve;
  });
  const audit = writerWith((store) => isUp.then(store));
  const recorded = Array.from({ length: maxEntriesPerOrganization }, (_, index) =>
    audit.record(organizationId, entryOf(`e${index}`)),
  );
  const { changes, handle } = changing(audit);
  await expect(handle()).rejects.toThrow('wait for MongoDB');
  expect(changes.count).toBe(0);
  // A request that was in progress has changed something.
  const changed = audit.recordNow(organizationId, entryOf('in progress'));
  const other = randomUUID();
  audit.requireRoom(other);
  await audit.record(other, entryOf('other'));
  goUp();
  await Promise.all([...recorded, changed]);
  audit.requireRoom(organizationId);
  await audit.close();
  expect(await idsOf()).toEqual([...recorded.map((_, index) => `e${index}`), 'in progress']);
});

test('a block whose acknowledgment was lost is not stored a second time', async () => {
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
  await audit.close();
  expect(await idsOf()).toEqual(['once']);
});

describe('verification finds', () => {
  const blocks = () => harness.db.auditBlocks.collection;
  const id = (sequence: number) => `${organizationId}:${sequence}`;

  test.each<[string, () => Promise<unknown>, { sequence: number; reason: RegExp }]>([
    [
      'a changed entry',
      () => blocks().updateOne({ _id: id(2) } as never, { $set: { entries: '[]', count: 0 } }),
      { sequence: 2, reason: /changed/ },
    ],
    [
      'an entry that is hidden from searches for its learner',
      () => blocks().updateOne({ _id: id(2) } as never, { $set: { learners: ['x'] } }),
      { sequence: 2, reason: /changed/ },
    ],
    [
      'a missing block',
      () => blocks().deleteOne({ _id: id(2) } as never),
      { sequence: 3, reason: /missing/ },
    ],
    [
      'missing first blocks',
      () => blocks().deleteOne({ _id: id(1) } as never),
      { sequence: 2, reason: /missing/ },
    ],
    [
      'a block of another chain',
      async () => {
        const other = await blocks().findOne({ _id: id(3) } as never);
        await blocks().deleteOne({ _id: id(2) } as never);
        await blocks().insertOne({ ...other, _id: id(2), sequence: 2 } as never);
      },
      { sequence: 2, reason: /changed/ },
    ],
  ])('%s', async (_name, tamper, { sequence, reason }) => {
    await writeBlocks(4);
    await tamper();
    expect((await verify()).fault).toEqual({ sequence, reason: expect.stringMatching(reason) as string });
  });

  test('missing last blocks, given a head that was noted before', async () => {
    await writeBlocks(3);
    const { head } = await verify();
    await blocks().deleteOne({ _id: id(3) } as never);
    expect((await verify()).fault).toBeNull();
    expect((await verify(head)).fault).toMatchObject({
      sequence: 3,
      reason: 'The newest blocks are missing.',
    });
    // Other blocks in their place.
    await writer().recordNow(organizationId, entryOf('forged'));
    expect((await verify(head)).fault?.sequence).toBe(3);
  });
});

describe('pruning', () => {
  const dayMs = 24 * 3600_000;
  const later = (days: number) => new Date(Date.now() + days * dayMs);

  test('removes blocks after 400 days, and what remains can be checked and extended', async () => {
    await writeBlocks(3);
    const old = new Date(Date.now() - 2 * dayMs);
    // As if the first two were written earlier. Their hashes no longer fit, but they are about to go.
    await harness.db.auditBlocks.updateMany(
      { organizationId, sequence: { $lte: 2 } },
      { $set: { sealedAt: old } },
    );
    expect(await pruneAudit(harness.db, testPepper, later(auditRetentionDays - 1))).toBe(2);
    expect(await idsOf()).toEqual(['e3']);
    expect(await verify()).toMatchObject({ fault: null, blocks: 1, pruned: { sequence: 2 } });

    expect(await pruneAudit(harness.db, testPepper, later(auditRetentionDays + 1))).toBeGreaterThan(0);
    await writer().recordNow(organizationId, entryOf('e4'));
    expect(await verify()).toMatchObject({
      fault: null,
      blocks: 1,
      pruned: { sequence: 3 },
      head: { sequence: 4 },
    });
  });

  test('leaves a chain that can be checked if it stops before the blocks are gone', async () => {
    await writeBlocks(3);
    const auditBlocks = new Proxy(harness.db.auditBlocks, {
      get: (target, name) => {
        if (name === 'deleteMany') throw new Error('killed');
        return Reflect.get(target, name) as unknown;
      },
    });
    const at = later(auditRetentionDays + 1);
    await expect(pruneAudit({ ...harness.db, auditBlocks }, testPepper, at)).rejects.toThrow('killed');
    expect((await verify()).fault).toBeNull();
    await pruneAudit(harness.db, testPepper, at);
    expect(await verify()).toMatchObject({ fault: null, blocks: 0, pruned: { sequence: 3 } });
  });

  test('cannot be forged: a changed record of the pruned blocks is found', async () => {
    await writeBlocks(2);
    await pruneAudit(harness.db, testPepper, later(auditRetentionDays + 1));
    await harness.db.auditAnchors.updateOne({ _id: organizationId }, { $set: { sequence: 1 } });
    expect((await verify()).fault?.reason).toMatch(/pruned blocks was changed/);
  });
});
