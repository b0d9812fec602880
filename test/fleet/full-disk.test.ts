import { expect, test, vi } from 'vitest';
import { ageStore, joinStore, backdateUsage } from '../maintenance/eviction/evictable.ts';
import { waitFor } from '../support/wait-for.ts';
import { startFleet } from './fleet.ts';
import { expectArchive, expectCleanFailure } from './lessons.ts';
import { longTimeoutMs, spawnApi, spawnWorker } from './processes.ts';
import { mayMount, mountSmallDisk } from './small-disk.ts';

vi.setConfig({ testTimeout: 90_000 });

const MB = 1024 ** 2;
const mountable = await mayMount();

test.skipIf(!mountable)(
  'an export that does not fit on the disk fails cleanly and leaves room for others',
  async () => {
    const disk = await mountSmallDisk(16 * MB);
    const fleet = await startFleet({ LECTERN_STORE_DIR: disk.folder });
    const [api] = await Promise.all([spawnApi(fleet.harness), spawnWorker(fleet.harness)]);
    // The first fits as downloads, but not with its archive; of the second, not even the downloads
    // fit.
    const lessons = [await fleet.publish([5 * MB, 5 * MB]), await fleet.publish([20 * MB])];
    const small = await fleet.publish([200_000]);

    for (const lesson of lessons) {
      expectCleanFailure(await fleet.request(api, lesson));
      expect(await fleet.stored()).toEqual({ archives: [], temporaries: [] });
    }
    await expectArchive(await fleet.request(api, small), small);

    await disk.resize(200 * MB);
    for (const lesson of lessons) {
      const answer = await waitFor(
        'the end of the failure backoff',
        async () => {
          const asked = await fleet.request(api, lesson);
          return asked.status === 200 ? asked : null;
        },
        longTimeoutMs,
      );
      await expectArchive(answer, lesson);
    }
    expect((await fleet.stored()).temporaries).toEqual([]);
  },
);

test.skipIf(!mountable)(
  'a disk full of evictable files makes room, and the export is retried by itself',
  async () => {
    const disk = await mountSmallDisk(32 * MB);
    const fleet = await startFleet({ LECTERN_STORE_DIR: disk.folder });
    const [api, worker] = await Promise.all([
      spawnApi(fleet.harness),
      spawnWorker(fleet.harness, { LOG_LEVEL: 'error' }),
    ]);
    const [first, second] = [await fleet.publish([10 * MB]), await fleet.publish([10 * MB])];
    await expectArchive(await fleet.request(api, first), first);
    const { redis } = await joinStore(fleet.harness);
    await backdateUsage(fleet.harness, redis);
    await ageStore(fleet.harness, redis, 60);

    await expectArchive(await fleet.request(api, second), second);
    await worker.logged('The store is full');
    const { archives, temporaries } = await fleet.stored();
    expect(archives).toHaveLength(1);
    expect(temporaries).toEqual([]);
    // Evicted files are restored once the other export is no longer in use.
    await ageStore(fleet.harness, redis, 60);
    await expectArchive(await fleet.request(api, first), first);
  },
);
