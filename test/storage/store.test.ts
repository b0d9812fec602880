import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { bytesOf, digestOf } from '../../shared/storage/digest.ts';
import type { OpenFile } from '../../shared/storage/store.ts';
import { someBytes } from '../exports/archives.ts';
import { storeKinds } from './kinds.ts';
import { archiveKey as key, read, readAndClose, startStore, storeArchive } from './stores.ts';

const bytes = someBytes(3 * 1024 ** 2 + 17);
const digest = digestOf(bytes);

/** Yields the bytes in pieces of all sizes, some of them empty. */
async function* pieces() {
  let start = 0;
  for (const size of [0, 1, 65_536, 0, 1024 ** 2, 7, bytes.length]) {
    await nextTurn();
    yield bytes.subarray(start, start + size);
    start = Math.min(start + size, bytes.length);
  }
}

const name = `v1/assets/${digest.sha256.slice(0, 2)}/${digest.sha256}`;

// The S3 server cannot run on every machine; the name says so there.
describe.each(storeKinds)('blobs on $name', ({ start, skip }) => {
  if (skip) return test.skip('the same guarantees');

  test('are stored under the digests that the store computed', async () => {
    const { store, files } = await start();
    expect(await store.assets.put(pieces())).toEqual(digest);
    const file = await store.assets.open(digest);
    expect(file?.size).toBe(bytes.length);
    expect((await readAndClose(file)).equals(bytes)).toBe(true);
    expect(await store.assets.has(digest)).toBe(true);
    expect(await files()).toEqual([name]);
    // The same bytes again are not stored twice.
    expect(await store.assets.put(pieces())).toEqual(digest);
    expect(await files()).toEqual([name]);
  });

  test('that are read as a whole give all their bytes, small and large, or null if their size differs', async () => {
    const { store, damage } = await start();
    for (const blob of [Buffer.alloc(0), someBytes(200_000), bytes]) {
      const stored = await store.assets.put(bytesOf(blob));
      const file = await store.assets.open(stored, 'whole');
      expect(file?.size).toBe(blob.length);
      expect((await readAndClose(file)).equals(blob)).toBe(true);
      const path = `v1/assets/${stored.sha256.slice(0, 2)}/${stored.sha256}`;
      for (const other of [blob.subarray(0, -1), Buffer.concat([blob, blob, Buffer.alloc(1)])]) {
        if (other.length === blob.length) continue;
        await damage(path, other);
        expect(await store.assets.open(stored, 'whole')).toBeNull();
      }
      await store.assets.delete(stored.sha256);
      expect(await store.assets.open(stored, 'whole')).toBeNull();
    }
  });

  test('whose source fails leave nothing, and the error is thrown', async () => {
    const { store, files } = await start();
    const failure = new Error('the origin is gone');
    async function* failing() {
      yield* pieces();
      throw failure;
    }
    await expect(store.assets.put(failing())).rejects.toBe(failure);
    expect(await files()).toEqual([]);
    expect(await store.assets.open(digest)).toBeNull();
  });

  test('that are written concurrently are stored once', async () => {
    const { store, files } = await start();
    const writers = Array.from({ length: 8 }, () => store.assets.put(pieces()));
    for (const written of await Promise.all(writers)) expect(written).toMatchObject(digest);
    expect((await files()).length).toBe(1);
    expect((await readAndClose(await store.assets.open(digest))).equals(bytes)).toBe(true);
  });

  test('can be stored while another process deletes them', async () => {
    const { store } = await start();
    for (let round = 0; round < 12; round += 1) {
      const small = Buffer.from(`${round % 3}`);
      const deletion = store.assets.delete(digestOf(small).sha256);
      const [written] = await Promise.all([store.assets.put(bytesOf(small)), deletion]);
      expect(written).toMatchObject(digestOf(small));
    }
  });

  test('deleted during a read give their bytes or an error, and are gone for other readers', async () => {
    const { store } = await start();
    await store.assets.put(pieces());
    const file = await store.assets.open(digest);
    await store.assets.delete(digest.sha256);
    expect(await store.assets.open(digest)).toBeNull();
    expect(await store.assets.has(digest)).toBe(false);
    const got = await readAndClose(file).catch(() => null);
    expect(got === null || got.equals(bytes)).toBe(true);
    // Deleting a missing blob is no error.
    await store.assets.delete(digest.sha256);
  });

  test('that are damaged are repaired by the next writer, and ignored until then if the size shows it', async () => {
    const { store, damage } = await start();
    await store.assets.put(pieces());
    await damage(name, Buffer.from('damaged'));
    expect(await store.assets.open(digest)).toBeNull();
    expect(await store.assets.has(digest)).toBe(false);
    await store.assets.put(pieces());
    expect((await readAndClose(await store.assets.open(digest))).equals(bytes)).toBe(true);

    await damage(name, Buffer.alloc(digest.size));
    await store.assets.put(pieces());
    expect((await readAndClose(await store.assets.open(digest))).equals(bytes)).toBe(true);
  });

  test('that were uploaded are separate from downloaded ones', async () => {
    const { store, files } = await start();
    await store.assets.put(pieces());
    expect(await store.cache.open(digest)).toBeNull();
    await store.cache.put(pieces());
    expect((await readAndClose(await store.cache.open(digest))).equals(bytes)).toBe(true);
    expect(await files()).toEqual([name, name.replace('assets', 'cache')]);
  });

  test('can be read in parts, also concurrently, and sent in parts, chunk by chunk', async () => {
    const { store } = await start();
    await store.assets.put(pieces());
    const file = await store.assets.open(digest);
    const ranges = [
      [0, 1],
      [5, 5],
      [1000, 2_000_000],
      [1024 ** 2 - 1, 3 * 1024 ** 2 + 1],
      [bytes.length - 1, bytes.length],
    ] as const;
    await Promise.all(
      ranges.map(async ([from, to]) => {
        expect((await read(file, from, to)).equals(bytes.subarray(from, to))).toBe(true);
        expect((await sent(file, from, to)).equals(bytes.subarray(from, to))).toBe(true);
      }),
    );
    expect((await sent(file)).equals(bytes)).toBe(true);
    await file?.close();
  });

  test('stop being sent at the first failed write, with its error', async () => {
    const { store } = await start();
    await store.assets.put(pieces());
    const file = await store.assets.open(digest);
    const failure = new Error('the client is gone');
    let writes = 0;
    const write = () => {
      writes += 1;
      return Promise.reject(failure);
    };
    await expect(file?.send(write)).rejects.toBe(failure);
    expect(writes).toBe(1);
    expect((await sent(file)).equals(bytes)).toBe(true);
    await file?.close();
  });
});

/** Sends a file. Copies each chunk only at the end of its write, when its memory must still be valid. */
async function sent(file: OpenFile | null, start?: number, end?: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  const write = async (chunk: Uint8Array) => {
    for (let turn = 0; turn < 3; turn += 1) await nextTurn();
    chunks.push(Buffer.from(chunk));
  };
  await file?.send(write, start, end);
  return Buffer.concat(chunks);
}

test('many concurrent sends never reuse memory before its write has ended', async () => {
  const { store } = await startStore();
  const files = Array.from({ length: 80 }, async (_, index) => {
    const stored = someBytes(300_000, index);
    await store.cache.put(bytesOf(stored));
    return { stored, file: await store.cache.open(digestOf(stored)) };
  });
  const opened = await Promise.all(files);
  const all = await Promise.all(opened.map(({ file }) => sent(file)));
  for (const [index, { stored, file }] of opened.entries()) {
    expect(all[index]?.equals(stored)).toBe(true);
    await file?.close();
  }
});

// The S3 server cannot run on every machine; the name says so there.
describe.each(storeKinds)('archives on $name', ({ start, skip }) => {
  if (skip) return test.skip('the same guarantees');

  const one = someBytes(100_000, 1);
  const other = someBytes(100_000, 2);
  const sha256Of = (archive: Uint8Array) => digestOf(archive).sha256;
  const startArchives = async () => (await start()).store.archives;

  test('are invisible until they are published, and then complete, with their digest', async () => {
    const archives = await startArchives();
    const draft = await archives.create();
    // Writers may reuse their chunks.
    const chunk = Buffer.from(one);
    await draft.write([chunk]);
    chunk.fill(0);
    expect(await archives.open(key)).toBeNull();
    await draft.publish(key, sha256Of(one));
    await draft.discard();

    const archive = await archives.open(key);
    expect(archive).toMatchObject({ size: one.length, sha256: sha256Of(one) });
    expect((await readAndClose(archive)).equals(one)).toBe(true);
  });

  test('leave nothing when their draft is discarded', async () => {
    const { store, files } = await start();
    const draft = await store.archives.create();
    await draft.write([one]);
    await draft.discard();
    await draft.discard();
    expect(await files()).toEqual([]);
    expect(await store.archives.open(key)).toBeNull();
  });

  test.each([
    ['the same bytes', one],
    ['other bytes', other],
  ])('may be published again with %s, while readers of the first continue', async (_what, second) => {
    const archives = await startArchives();
    await storeArchive(archives, key, one);
    const before = await archives.open(key);
    await storeArchive(archives, key, second);
    expect((await readAndClose(before)).equals(one)).toBe(true);
    const after = await readAndClose(await archives.open(key));
    expect(after.equals(one) || after.equals(second)).toBe(true);
  });

  test('that are deleted are gone for new readers, and readable to the end by others', async () => {
    const archives = await startArchives();
    await storeArchive(archives, key, one);
    const archive = await archives.open(key);
    await archives.delete(key);
    expect(await archives.open(key)).toBeNull();
    expect((await readAndClose(archive)).equals(one)).toBe(true);
    expect(await archives.has(key)).toBe(false);
    await archives.delete(key);
  });
});
