import { expect, onTestFinished, test, vi } from 'vitest';
import { requestArchive } from '../../api/exports/archive-requests.ts';
import { JobSubscriptions } from '../../api/exports/job-subscriptions.ts';
import { WaitLimiter } from '../../api/exports/wait-limiter.ts';
import { exportJobOf } from '../../shared/exports/jobs.ts';
import { createLogger } from '../../shared/platform/log.ts';
import { createExportEvents } from '../../shared/exports/queues.ts';
import { noCoordination } from '../../shared/coordination/coordination.ts';
import type { ArchiveStore } from '../../shared/storage/store.ts';
import { startFleet } from './fleet.ts';
import type { Fleet } from './fleet.ts';
import { expectArchive } from './lessons.ts';
import { viewQueue } from './queue.ts';

vi.setConfig({ testTimeout: 60_000 });

const neverAborted = new AbortController().signal;

/** The dependencies of an archive request, over a store that a test can watch. */
function requestDependencies({ harness }: Fleet, archives: ArchiveStore) {
  const events = createExportEvents(harness.servers.redisUrl, harness.config);
  onTestFinished(() => events.close());
  const { queue } = viewQueue(harness);
  const log = createLogger(harness.config, 'test');
  const subscriptions = new JobSubscriptions(events);
  const waitLimiter = new WaitLimiter(1);
  const { incomplete } = noCoordination;
  const deps = {
    db: harness.db,
    archives,
    queue,
    subscriptions,
    waitLimiter,
    incomplete,
    config: harness.config,
    log,
  };
  return { events, deps };
}

test('a request notices a job that ends while the request checks the store', async () => {
  const fleet = await startFleet();
  const { events, deps } = requestDependencies(fleet, fleet.harness.store.archives);
  const lesson = await fleet.publish([1000]);
  const waiter = deps.subscriptions.toEnd(exportJobOf(lesson.version).key);

  const ended = new Promise((resolve) => events.once('completed', resolve));
  const api = { address: await fleet.harness.startApi() };
  await fleet.harness.startWorker();
  await expectArchive(await fleet.request(api, lesson), lesson);
  await ended;
  // The event came before the wait, which would otherwise last an hour.
  await waiter.next(3_600_000, neverAborted);
  waiter.close();
});

test('an archive opened for a client that has disconnected is closed again', async () => {
  const fleet = await startFleet();
  const api = { address: await fleet.harness.startApi() };
  await fleet.harness.startWorker();
  const lesson = await fleet.publish([1000]);
  await fleet.request(api, lesson);

  const gone = new AbortController();
  const closed = vi.fn();
  const { archives } = fleet.harness.store;
  const { deps } = requestDependencies(fleet, {
    ...archives,
    open: async (key) => {
      const archive = await archives.open(key);
      gone.abort(new Error('the client is gone'));
      if (archive === null) return null;
      const close = async () => {
        closed();
        await archive.close();
      };
      return { ...archive, close };
    },
  });
  const request = requestArchive(deps, exportJobOf(lesson.version), gone.signal);
  await expect(request).rejects.toThrow('the client is gone');
  expect(closed).toHaveBeenCalledOnce();
});
