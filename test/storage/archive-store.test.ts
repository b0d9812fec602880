import { describe, expect, test } from 'vitest';
import { digestOf } from '../../shared/storage/digest.ts';
import type { ListedArchive, Store } from '../../shared/storage/store.ts';
import { someBytes } from '../exports/archives.ts';
import { useStoreKinds } from './kinds.ts';
import { archiveKey as key, read, storeArchive } from './stores.ts';

const storeKinds = useStoreKinds();

const one = someBytes(100_000, 1);
const other = someBytes(100_000, 2);
const sha256Of = (bytes: Uint8Array) => digestOf(bytes).sha256;

async function listed(archives: Store['archives']): Promise<ListedArchive[]> {
  const found: ListedArchive[] = [];
  for await (const page of archives.list()) found.push(...page);
  return found;
}

describe.each(storeKinds)('archives on $name', ({ start, skip }) => {
  // Why is in the name of the suite.
  if (skip) return test.skip('the same guarantees');

  test('a draft is invisible until it is published, and then complete, with its digest', async () => {
    const {
      store: { archives },
    } = await start();
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

  test('an archive that is built for a request is not older than the request', async () => {
    const {
      store: { archives },
    } = await start();
    const asked = Date.now();
    await storeArchive(archives, key, one);
    const archive = await archives.open(key);
    // The clock of a filesystem may be a tick behind.
    expect(archive?.storedAt.getTime()).toBeGreaterThanOrEqual(asked - 20);
    await archive?.close();
  });

  test('a discarded draft leaves nothing', async () => {
    const {
      store: { archives },
      files,
    } = await start();
    const draft = await archives.create();
    await draft.write([one]);
    await draft.discard();
    await draft.discard();
    expect(await files()).toEqual([]);
    expect(await archives.open(key)).toBeNull();
  });

  test('two builders may publish the same archive, and readers of the first continue', async () => {
    const {
      store: { archives },
    } = await start();
    await storeArchive(archives, key, one);
    const before = await archives.open(key);
    await storeArchive(archives, key, one);
    expect((await read(before)).equals(one)).toBe(true);
    await before?.close();
    expect((await listed(archives)).map(({ sha256 }) => sha256)).toEqual([sha256Of(one)]);
  });

  test('readers of a replaced archive continue with the bytes they began with', async () => {
    const {
      store: { archives },
    } = await start();
    await storeArchive(archives, key, one);
    const before = await archives.open(key);
    await storeArchive(archives, key, other);
    expect((await read(before)).equals(one)).toBe(true);
    await before?.close();
  });

  test('a deleted archive is gone for new readers, and readable to the end for those who have it open', async () => {
    const {
      store: { archives },
    } = await start();
    await storeArchive(archives, key, one);
    const archive = await archives.open(key);
    await archives.delete(key);
    expect(await archives.open(key)).toBeNull();
    expect((await read(archive)).equals(one)).toBe(true);
    await archive?.close();
    expect(await listed(archives)).toEqual([]);
    await archives.delete(key);
  });

  test('a draft of many small pieces is written in their order', async () => {
    const {
      store: { archives },
    } = await start();
    const pieces = Array.from({ length: 5000 }, (_, index) => Buffer.from(`${index},`));
    const draft = await archives.create();
    await draft.write(pieces);
    await draft.publish(key, sha256Of(Buffer.concat(pieces)));
    await draft.discard();
    const archive = await archives.open(key);
    expect((await read(archive)).equals(Buffer.concat(pieces))).toBe(true);
    await archive?.close();
  });

  test('writers may reuse their chunks once they are written', async () => {
    const {
      store: { archives },
    } = await start();
    const chunk = Buffer.from(one);
    const draft = await archives.create();
    await draft.write([chunk]);
    chunk.fill(0);
    await draft.publish(key, sha256Of(one));
    await draft.discard();
    const archive = await archives.open(key);
    expect((await read(archive)).equals(one)).toBe(true);
    await archive?.close();
  });

  test('archives are listed with their keys, sizes, digests and times; drafts are not', async () => {
    const {
      store: { archives },
    } = await start();
    expect(await listed(archives)).toEqual([]);
    await storeArchive(archives, key, one);
    const draft = await archives.create();
    await draft.write([other]);

    const found = await listed(archives);
    expect(found).toMatchObject([{ key, size: one.length, sha256: sha256Of(one) }]);
    expect(Math.abs((found[0]?.storedAt.getTime() ?? 0) - Date.now())).toBeLessThan(60_000);
    await draft.discard();
    await archives.delete(key);
    expect(await listed(archives)).toEqual([]);
  });
});
