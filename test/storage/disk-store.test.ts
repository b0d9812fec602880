import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, open, rm, utimes, writeFile } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { createDiskStore } from '../../shared/storage/disk-store.ts';
import { bytesOf, digestOf } from '../../shared/storage/digest.ts';
import { someBytes } from '../exports/archives.ts';
import { listAll } from './aging.ts';
import { archiveKey, read, readAndClose, startStore, storeArchive } from './stores.ts';

test('a blob truncated while it is read or sent causes an error, not a short response', async () => {
  const { store, damage } = await startStore();
  const bytes = someBytes(100_000);
  const { sha256 } = await store.assets.put(bytesOf(bytes));
  const file = await store.assets.open(digestOf(bytes));
  await damage(`v1/assets/${sha256.slice(0, 2)}/${sha256}`, Buffer.from('short'));
  const message = `ends at byte 5 of ${bytes.length}`;
  await expect(read(file)).rejects.toThrow(message);
  await expect(file?.send(() => Promise.resolve())).rejects.toThrow(message);
  await file?.close();
});

test('an open blob is readable to the end after its deletion', async () => {
  const { store } = await startStore();
  const bytes = someBytes(100_000);
  const { sha256 } = await store.cache.put(bytesOf(bytes));
  const file = await store.cache.open(digestOf(bytes));
  await store.cache.delete(sha256);
  expect((await readAndClose(file)).equals(bytes)).toBe(true);
});

test('a small blob that is opened as a whole is in memory: its file is closed, and parts of it can be read and sent', async () => {
  const { store, damage } = await startStore();
  const bytes = someBytes(100_000);
  const { sha256 } = await store.cache.put(bytesOf(bytes));
  const file = await store.cache.open(digestOf(bytes), 'whole');
  await damage(`v1/cache/${sha256.slice(0, 2)}/${sha256}`, Buffer.from('short'));
  const sent: Uint8Array[] = [];
  await file?.send((chunk) => Promise.resolve(void sent.push(chunk)), 10, 20);
  expect(Buffer.concat(sent)).toEqual(bytes.subarray(10, 20));
  expect(await read(file, 99_000)).toEqual(bytes.subarray(99_000));
  expect((await readAndClose(file)).equals(bytes)).toBe(true);
});

test('an archive whose early sync fails is not published, although its last sync succeeds', async () => {
  const { store, folder, files } = await startStore();
  const probe = await open(join(folder, 'probe'), 'w');
  const prototype = Object.getPrototypeOf(probe) as FileHandle;
  await probe.close();
  await rm(join(folder, 'probe'));
  const failure = new Error('EIO: i/o error, fdatasync');
  const datasync = vi.spyOn(prototype, 'datasync').mockRejectedValueOnce(failure);
  const draft = await store.archives.create();
  try {
    await draft.write([someBytes(17 * 1024 ** 2)]);
    await expect(draft.publish(archiveKey, '0'.repeat(64))).rejects.toBe(failure);
    expect(datasync).toHaveBeenCalledTimes(1);
  } finally {
    datasync.mockRestore();
    await draft.discard();
  }
  expect(await files()).toEqual([]);
});

test('an archive is one file, with its key and its digest in its name, however often it is built', async () => {
  const { store, files } = await startStore();
  const bytes = someBytes(1000);
  for (let round = 0; round < 2; round += 1) await storeArchive(store.archives, archiveKey, bytes);
  const folder = `v1/archives/${archiveKey.slice(1, 3)}/${archiveKey}`;
  expect(await files()).toEqual([`${folder}/${digestOf(bytes).sha256}.zip`]);
  await store.archives.delete(archiveKey);
  expect(await files()).toEqual([]);
});

test('the newest of several archives under a key is served', async () => {
  const { store, folder } = await startStore();
  const [one, other] = [someBytes(1000, 1), someBytes(1000, 2)];
  await storeArchive(store.archives, archiveKey, one);
  await storeArchive(store.archives, archiveKey, other);
  const path = (bytes: Uint8Array) =>
    join(folder, 'v1/archives', archiveKey.slice(1, 3), archiveKey, `${digestOf(bytes).sha256}.zip`);
  for (const [newer, older] of [
    [one, other],
    [other, one],
  ] as const) {
    await utimes(path(older), 1_000, 1_000);
    await utimes(path(newer), 2_000, 2_000);
    const archive = await store.archives.open(archiveKey);
    expect(archive).toMatchObject({ sha256: digestOf(newer).sha256 });
    await archive?.close();
  }
});

test('files of other programs in the folders of the store are neither served nor listed', async () => {
  const { store, folder } = await startStore();
  const bytes = someBytes(1000);
  await storeArchive(store.archives, archiveKey, bytes);
  const { sha256 } = await store.cache.put(bytesOf(bytes));
  await store.cache.delete(sha256);
  const archives = join(folder, 'v1/archives');
  await writeFile(join(archives, archiveKey.slice(1, 3), archiveKey, '.nfs0000000001'), 'left');
  await writeFile(join(archives, 'stray'), 'left');
  await writeFile(join(folder, 'v1/cache', sha256.slice(0, 2), '.nfs0000000002'), 'left');

  const archive = await store.archives.open(archiveKey);
  expect(archive?.sha256).toBe(digestOf(bytes).sha256);
  await archive?.close();
  expect((await listAll(store.copies)).map(({ name }) => basename(name))).toEqual([archiveKey]);
});

test('a folder has no presigned URLs', async () => {
  const { store } = await startStore();
  expect(
    await store.assets.presignedUrl('0'.repeat(64), {
      seconds: 60,
      contentType: 'image/png',
      contentDisposition: 'attachment',
    }),
  ).toBeNull();
});

test('a sweep removes only old temporary files', async () => {
  const { store, folder, files } = await startStore();
  const { sha256 } = await store.assets.put(bytesOf(someBytes(10)));
  const old = Date.now() / 1000 - 4000;
  await utimes(join(folder, 'v1/assets', sha256.slice(0, 2), sha256), old, old);
  const abandoned = ['one', 'two'].map((name) => join(folder, 'v1/tmp', name));
  for (const path of abandoned) {
    await writeFile(path, 'left behind');
    await utimes(path, old, old);
  }
  const draft = await store.archives.create();
  await draft.write([someBytes(10)]);

  expect(await store.sweepTemporaries(3600)).toBe(2);
  expect(await store.sweepTemporaries(3600)).toBe(0);
  expect((await files()).filter((path) => path.startsWith('v1/tmp/')).length).toBe(1);
  await draft.publish(`x${'1'.repeat(40)}`, digestOf(someBytes(10)).sha256);
  await draft.discard();
  expect(await store.assets.has({ sha256, size: 10 })).toBe(true);
});

test('the check of an unused store reports its free space, and neither check nor sweep leaves anything', async () => {
  const { store, files } = await startStore();
  expect(await store.sweepTemporaries(0)).toBe(0);
  expect((await store.check()).freeBytes).toBeGreaterThan(0);
  expect(await files()).toEqual([]);
});

test('the check reports where and why a store is not writable', async () => {
  const { folder } = await startStore();
  await writeFile(join(folder, 'a-file'), '');
  const store = createDiskStore(join(folder, 'a-file'));
  await expect(store.check()).rejects.toMatchObject({
    code: 'INTERNAL_ERROR',
    message: expect.stringMatching(/^The store in .*\/a-file\/v1 cannot be written to: ENOTDIR/) as string,
  });
});

/** Mounts a filesystem of a few MiB, which tests can fill; null if this user may not mount one. */
async function mountSmallDisk(): Promise<string | null> {
  const folder = await mkdtemp(join(tmpdir(), 'lectern-small-disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', folder], { stdio: 'ignore' });
    return folder;
  } catch {
    await rm(folder, { recursive: true });
    return null;
  }
}

const smallDisk = await mountSmallDisk();
afterAll(async () => {
  if (smallDisk === null) return;
  execFileSync('umount', [smallDisk]);
  await rm(smallDisk, { recursive: true });
});

describe.skipIf(smallDisk === null)(
  smallDisk === null ? 'a full disk, SKIPPED: this user may not mount one' : 'a full disk',
  () => {
    const folder = join(smallDisk ?? '', 'store');
    const store = createDiskStore(folder);
    const large = someBytes(6 * 1024 ** 2);

    test('is reported by the check', async () => {
      await mkdir(folder, { recursive: true });
      const filler = join(folder, 'filler');
      await expect(writeFile(filler, large)).rejects.toThrow(/ENOSPC/);
      await expect(store.check()).rejects.toThrow(/^The store in .* cannot be written to: ENOSPC/);
      await rm(filler);
      await store.check();
    });

    test('keeps its last twentieth for imports and the ledger: downloads and archives are refused with the reason', async () => {
      await mkdir(folder, { recursive: true });
      const filler = join(folder, 'filler');
      await writeFile(filler, large.subarray(0, 3.9 * 1024 ** 2));
      const refused = {
        code: 'ENOSPC',
        message: expect.stringMatching(/GB are free on the disk of .*\. Free disk space/) as string,
      };
      const bytes = someBytes(1000);
      await expect(store.cache.put(bytesOf(bytes))).rejects.toMatchObject(refused);
      const draft = await store.archives.create();
      await expect(draft.write([bytes])).rejects.toMatchObject(refused);
      await draft.discard();
      await store.assets.put(bytesOf(bytes));
      await store.erasures.add('erasure');
      await rm(filler);
      await store.cache.put(bytesOf(bytes));
    });
  },
);
