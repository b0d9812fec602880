import { utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { digestOf } from '../../shared/storage/digest.ts';
import type { ListedArchive, Store } from '../../shared/storage/store.ts';
import { someBytes } from '../export/archives.ts';
import { read, startStore } from './stores.ts';

const key = `x${'0'.repeat(40)}`;
const one = someBytes(100_000, 1);
const other = someBytes(100_000, 2);
const sha256Of = (bytes: Uint8Array) => digestOf(bytes).sha256;

async function store(archives: Store['archives'], bytes: Uint8Array): Promise<void> {
  const draft = await archives.create();
  await draft.write([bytes.subarray(0, 1000), bytes.subarray(1000)]);
  await draft.publish(key, sha256Of(bytes));
  await draft.discard();
}

test('a draft is invisible until it is published, then it is there whole, with its digest', async () => {
  const {
    store: { archives },
  } = await startStore();
  const draft = await archives.create();
  await draft.write([one]);
  expect(await archives.open(key)).toBeNull();
  await draft.publish(key, sha256Of(one));
  await draft.discard();

  const archive = await archives.open(key);
  expect(archive).toMatchObject({ size: one.length, sha256: sha256Of(one) });
  expect(Math.abs((archive?.storedAt.getTime() ?? 0) - Date.now())).toBeLessThan(60_000);
  expect((await read(archive)).equals(one)).toBe(true);
  await archive?.close();
});

test('a draft that is discarded leaves nothing', async () => {
  const {
    store: { archives },
    files,
  } = await startStore();
  const draft = await archives.create();
  await draft.write([one]);
  await draft.discard();
  await draft.discard();
  expect(await files()).toEqual([]);
  expect(await archives.open(key)).toBeNull();
});

test('two builders may publish the same archive, one after the other, and readers of the first go on', async () => {
  const {
    store: { archives },
    files,
  } = await startStore();
  await store(archives, one);
  const before = await archives.open(key);
  await store(archives, one);
  expect((await read(before)).equals(one)).toBe(true);
  await before?.close();
  expect(await files()).toEqual([`v1/archives/${key.slice(1, 3)}/${key}/${sha256Of(one)}.zip`]);
});

test('of several archives under a key the newest is served', async () => {
  const {
    store: { archives },
    folder,
  } = await startStore();
  await store(archives, one);
  await store(archives, other);
  const path = (bytes: Uint8Array) =>
    join(folder, 'v1/archives', key.slice(1, 3), key, `${sha256Of(bytes)}.zip`);
  for (const [newer, older] of [
    [one, other],
    [other, one],
  ] as const) {
    await utimes(path(older), 1_000, 1_000);
    await utimes(path(newer), 2_000, 2_000);
    const archive = await archives.open(key);
    expect(archive).toMatchObject({ sha256: sha256Of(newer), storedAt: new Date(2_000_000) });
    await archive?.close();
  }
});

test('a deleted archive is gone for the next reader, and readable to the end for one who has it open', async () => {
  const {
    store: { archives },
    files,
  } = await startStore();
  await store(archives, one);
  const archive = await archives.open(key);
  await archives.delete(key);
  expect(await archives.open(key)).toBeNull();
  expect((await read(archive)).equals(one)).toBe(true);
  await archive?.close();
  expect(await files()).toEqual([]);
  await archives.delete(key);
});

test('a draft of many small pieces is written in their order', async () => {
  const {
    store: { archives },
  } = await startStore();
  const pieces = Array.from({ length: 5000 }, (_, index) => Buffer.from(`${index},`));
  const draft = await archives.create();
  await draft.write(pieces);
  await draft.publish(key, sha256Of(Buffer.concat(pieces)));
  await draft.discard();
  const archive = await archives.open(key);
  expect((await read(archive)).equals(Buffer.concat(pieces))).toBe(true);
  await archive?.close();
});

test('archives are listed with their keys, sizes, digests and times; drafts are not', async () => {
  const {
    store: { archives },
  } = await startStore();
  const listed = async () => {
    const found: ListedArchive[] = [];
    for await (const page of archives.list()) found.push(...page);
    return found;
  };
  expect(await listed()).toEqual([]);
  await store(archives, one);
  const draft = await archives.create();
  await draft.write([other]);

  const found = await listed();
  expect(found).toMatchObject([{ key, size: one.length, sha256: sha256Of(one) }]);
  expect(Math.abs((found[0]?.storedAt.getTime() ?? 0) - Date.now())).toBeLessThan(60_000);
  await draft.discard();
  await archives.delete(key);
  expect(await listed()).toEqual([]);
});
