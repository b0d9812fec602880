import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { viewQueue } from '../exports/open-queue.ts';
import { ageFolder } from '../storage/aging.ts';
import { expectArchive, expectCleanFailure, startFleet } from '../fleet/fleet.ts';

const MB = 1024 ** 2;
const run = promisify(execFile);

/** Mounts a filesystem with little space until the end of the test; needs root. */
async function mountSmallDisk(bytes: number) {
  const folder = await mkdtemp(join(tmpdir(), 'lectern-disk-'));
  await run('mount', ['-t', 'tmpfs', '-o', `size=${bytes}`, 'lectern-test', folder]);
  onTestFinished(async () => {
    // Unmounts lazily, because a process may still hold a file.
    await run('umount', ['--lazy', folder]);
    await rm(folder, { recursive: true });
  });
  const resize = (size: number) => run('mount', ['-o', `remount,size=${size}`, folder]);
  return { folder, resize };
}

/** Returns whether this process may mount; containers and ordinary users often may not. */
async function mayMount(): Promise<boolean> {
  const folder = await mkdtemp(join(tmpdir(), 'lectern-disk-'));
  try {
    await run('mount', ['-t', 'tmpfs', '-o', 'size=65536', 'lectern-test', folder]);
    await run('umount', [folder]);
    return true;
  } catch {
    return false;
  } finally {
    await rm(folder, { recursive: true });
  }
}

const mountable = await mayMount();

test.skipIf(!mountable)(
  'an export that does not fit on the disk fails cleanly and leaves room for others',
  async () => {
    const disk = await mountSmallDisk(8 * MB);
    const fleet = await startFleet({ LECTERN_STORE_DIR: disk.folder });
    const api = await fleet.startApi();
    await fleet.startWorker();
    // The first lesson's downloads fit, but not its archive as well. The second lesson's downloads do not fit.
    const lessons = [await fleet.publish([3 * MB, 2 * MB]), await fleet.publish([9 * MB])];
    const small = await fleet.publish([200_000]);

    for (const lesson of lessons) {
      expectCleanFailure(await fleet.request(api, lesson));
      expect(await fleet.stored()).toEqual({ archives: [], temporaries: [] });
    }
    await expectArchive(await fleet.request(api, small), small);

    await disk.resize(100 * MB);
    const { endBackoff } = viewQueue(fleet.harness);
    for (const lesson of lessons) {
      await endBackoff(lesson.version);
      await expectArchive(await fleet.request(api, lesson), lesson);
    }
    expect((await fleet.stored()).temporaries).toEqual([]);
  },
);

test.skipIf(!mountable)(
  'a disk full of evictable files makes room, and the export is retried by itself',
  async () => {
    const disk = await mountSmallDisk(32 * MB);
    const fleet = await startFleet({ LECTERN_STORE_DIR: disk.folder });
    const api = await fleet.startApi();
    await fleet.startWorker();
    const [first, second] = [await fleet.publish([10 * MB]), await fleet.publish([10 * MB])];
    await expectArchive(await fleet.request(api, first), first);
    const { store, config } = fleet.harness;
    await ageFolder(config.storeDir, store.copies, 7);

    await expectArchive(await fleet.request(api, second), second);
    const job = await viewQueue(fleet.harness).lastJob(second.version);
    expect(job?.stacktrace?.join()).toContain('The store is full');
    const { archives, temporaries } = await fleet.stored();
    expect(archives).toHaveLength(1);
    expect(temporaries).toEqual([]);
    // Evicted files are restored once the other export is no longer in use.
    await ageFolder(config.storeDir, store.copies, 7);
    await expectArchive(await fleet.request(api, first), first);
  },
);
