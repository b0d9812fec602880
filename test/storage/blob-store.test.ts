import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { bytesOf, digestOf } from '../../shared/storage/digest.ts';
import type { BlobStore, ListedBlob } from '../../shared/storage/store.ts';
import { someBytes } from '../exports/archives.ts';
import { useStoreKinds } from './kinds.ts';
import { read } from './stores.ts';

const storeKinds = useStoreKinds();

const bytes = someBytes(3 * 1024 ** 2 + 17);
const digest = digestOf(bytes);

/** The bytes in pieces of all sizes, some of them empty. */
async function* pieces() {
  const sizes = [0, 1, 65_536, 0, 1024 ** 2, 7, bytes.length];
  let start = 0;
  for (const size of sizes) {
    await nextTurn();
    yield bytes.subarray(start, start + size);
    start = Math.min(start + size, bytes.length);
  }
}

async function listed(blobs: BlobStore): Promise<ListedBlob[]> {
  const found: ListedBlob[] = [];
  for await (const page of blobs.list()) found.push(...page);
  return found;
}

const nameIn = (area: string) => `v1/${area}/${digest.sha256.slice(0, 2)}/${digest.sha256}`;
const bySha256 = (a: { sha256: string }, b: { sha256: string }) => (a.sha256 < b.sha256 ? -1 : 1);

const suites = storeKinds.flatMap((kind) =>
  (['assets', 'cache'] as const).map((area) => ({ ...kind, area })),
);

describe.each(suites)('$area on $name', ({ start, skip, area }) => {
  // Why is in the name of the suite.
  if (skip) return test.skip('the same guarantees');

  test('returns the stored bytes under the digests it computed', async () => {
    const { store, files } = await start();
    expect(await store[area].put(pieces())).toEqual({ ...digest, created: true });
    const file = await store[area].open(digest);
    expect(file?.size).toBe(bytes.length);
    expect((await read(file)).equals(bytes)).toBe(true);
    await file?.close();
    expect(await store[area].has(digest)).toBe(true);
    expect(await files()).toEqual([nameIn(area)]);
  });

  test('takes an empty file', async () => {
    const { store } = await start();
    const nothing = digestOf(new Uint8Array());
    expect(await store[area].put(bytesOf(new Uint8Array()))).toEqual({ ...nothing, created: true });
    const file = await store[area].open(nothing);
    expect((await read(file)).length).toBe(0);
    await file?.close();
  });

  test('says that bytes were there already, and keeps them once', async () => {
    const { store, files } = await start();
    await store[area].put(pieces());
    expect(await store[area].put(pieces())).toEqual({ ...digest, created: false });
    expect((await files()).length).toBe(1);
  });

  test('keeps nothing of a failing source, and throws its error', async () => {
    const { store, files } = await start();
    const failure = new Error('the origin is gone');
    async function* failing() {
      yield* pieces();
      throw failure;
    }
    await expect(store[area].put(failing())).rejects.toBe(failure);
    expect(await files()).toEqual([]);
    expect(await store[area].open(digest)).toBeNull();
  });

  test('takes the same bytes from two writers at once, once', async () => {
    const { store, files } = await start();
    const writers = Array.from({ length: 8 }, () => store[area].put(pieces()));
    for (const written of await Promise.all(writers)) expect(written).toMatchObject(digest);
    expect((await files()).length).toBe(1);
    const file = await store[area].open(digest);
    expect((await read(file)).equals(bytes)).toBe(true);
    await file?.close();
  });

  test('stores bytes that another process deletes at the same time', async () => {
    const { store } = await start();
    for (let round = 0; round < 100; round += 1) {
      const small = Buffer.from(`${round % 3}`);
      const deletion = store[area].delete(digestOf(small).sha256);
      const [written] = await Promise.all([store[area].put(bytesOf(small)), deletion]);
      expect(written).toMatchObject(digestOf(small));
    }
  });

  test('a deletion during a read gives its reader the bytes or an error, and affects no other reader', async () => {
    const { store } = await start();
    await store[area].put(pieces());
    const file = await store[area].open(digest);
    await store[area].delete(digest.sha256);
    expect(await store[area].open(digest)).toBeNull();
    expect(await store[area].has(digest)).toBe(false);
    const got = await read(file).catch(() => null);
    expect(got === null || got.equals(bytes)).toBe(true);
    await file?.close();
    // Deleting what is gone is no error.
    await store[area].delete(digest.sha256);
  });

  test('lists what is in it, with sizes and times', async () => {
    const { store } = await start();
    expect(await listed(store[area])).toEqual([]);
    const blobs = [bytes, someBytes(10), Buffer.alloc(0)].map((one) => ({ one, ...digestOf(one) }));
    for (const { one } of blobs) await store[area].put(bytesOf(one));
    const found = await listed(store[area]);
    expect(found.map(({ sha256, size }) => ({ sha256, size })).sort(bySha256)).toEqual(
      blobs.map(({ sha256, size }) => ({ sha256, size })).sort(bySha256),
    );
    for (const { storedAt } of found) expect(Math.abs(storedAt.getTime() - Date.now())).toBeLessThan(60_000);
    await store[area].delete(digest.sha256);
    expect((await listed(store[area])).length).toBe(2);
  });

  test("ignores a file whose size differs from its digest's, and replaces it at the next put", async () => {
    const { store, damage } = await start();
    await store[area].put(pieces());
    await damage(nameIn(area), Buffer.from('damaged'));
    expect(await store[area].open(digest)).toBeNull();
    expect(await store[area].has(digest)).toBe(false);
    expect((await store[area].put(pieces())).created).toBe(true);
    const file = await store[area].open(digest);
    expect((await read(file)).equals(bytes)).toBe(true);
    await file?.close();
  });

  test('replaces a corrupt file of the right size when the right bytes are stored again', async () => {
    const { store, damage } = await start();
    await store[area].put(pieces());
    await damage(nameIn(area), Buffer.alloc(digest.size));
    await store[area].put(pieces());
    const file = await store[area].open(digest);
    expect((await read(file)).equals(bytes)).toBe(true);
    await file?.close();
  });
});

describe.each(storeKinds)('all blobs on $name', ({ start, skip }) => {
  // Why is in the name of the suite.
  if (skip) return test.skip('the same guarantees');

  test('any part of a file can be read, also several at once', async () => {
    const { store } = await start();
    await store.assets.put(pieces());
    const file = await store.assets.open(digest);
    const ranges = [
      [0, 1],
      [5, 5],
      [1000, 2_000_000],
      [bytes.length - 1, bytes.length],
    ] as const;
    await Promise.all(
      ranges.map(async ([start, end]) =>
        expect((await read(file, start, end)).equals(bytes.subarray(start, end))).toBe(true),
      ),
    );
    await file?.close();
  });

  test('uploads and downloads are apart: one is not found among the other', async () => {
    const { store } = await start();
    await store.assets.put(pieces());
    expect(await store.cache.open(digest)).toBeNull();
  });
});
