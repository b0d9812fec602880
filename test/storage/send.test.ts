import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { bytesOf, digestOf } from '../../shared/storage/digest.ts';
import type { OpenFile, Store } from '../../shared/storage/store.ts';
import { someBytes } from '../exports/archives.ts';
import { useStoreKinds } from './kinds.ts';
import { startStore } from './stores.ts';

const storeKinds = useStoreKinds();

/** Takes several pieces to send, also the largest. */
const bytes = someBytes(4 * 1024 ** 2 + 17);

async function openStored(store: Store, stored: Uint8Array): Promise<OpenFile> {
  const digest = digestOf(stored);
  await store.cache.put(bytesOf(stored));
  const file = await store.cache.open(digest);
  if (file === null) throw new Error('There is no such file');
  return file;
}

/** All that a file sends. What its chunks hold is looked at only at the end of each write, when it must be there still. */
async function sent(file: OpenFile, start?: number, end?: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  const write = async (chunk: Uint8Array) => {
    for (let turn = 0; turn < 3; turn += 1) await nextTurn();
    chunks.push(Buffer.from(chunk));
  };
  await file.send(write, start, end);
  return Buffer.concat(chunks);
}

describe.each(storeKinds)('a file on $name', ({ start, skip }) => {
  // Why is in the name of the suite.
  if (skip) return test.skip('the same guarantees');

  test('sends all its bytes or any part, one chunk after the other', async () => {
    const { store } = await start();
    const file = await openStored(store, bytes);
    expect((await sent(file)).equals(bytes)).toBe(true);
    for (const [from, to] of [
      [0, 1],
      [17, 700_000],
      [1024 ** 2 - 1, 3 * 1024 ** 2 + 1],
      [bytes.length - 1, bytes.length],
    ] as const)
      expect((await sent(file, from, to)).equals(bytes.subarray(from, to))).toBe(true);
    await file.close();
  });

  test('stops where a write fails, and says why', async () => {
    const { store } = await start();
    const file = await openStored(store, bytes);
    const failure = new Error('the client is gone');
    let writes = 0;
    const write = () => {
      writes += 1;
      return Promise.reject(failure);
    };
    await expect(file.send(write)).rejects.toBe(failure);
    expect(writes).toBe(1);
    expect((await sent(file)).equals(bytes)).toBe(true);
    await file.close();
  });
});

test('reuses no memory before its write has ended, however many files are sent at once', async () => {
  const { store } = await startStore();
  const files = await Promise.all(
    Array.from({ length: 150 }, async (_, index) => {
      const stored = someBytes(300_000, index);
      return { stored, file: await openStored(store, stored) };
    }),
  );
  const all = await Promise.all(files.map(({ file }) => sent(file)));
  for (const [index, { stored, file }] of files.entries()) {
    expect(all[index]?.equals(stored)).toBe(true);
    await file.close();
  }
});

test('a file truncated on disk causes an error, not a short response', async () => {
  const { store, damage } = await startStore();
  const file = await openStored(store, bytes);
  const { sha256 } = digestOf(bytes);
  await damage(`v1/cache/${sha256.slice(0, 2)}/${sha256}`, Buffer.from('short'));
  await expect(sent(file)).rejects.toThrow(`ends at byte 5 of ${bytes.length}`);
  await file.close();
});
