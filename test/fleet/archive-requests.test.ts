import { expect, onTestFinished, test, vi } from 'vitest';
import { requestArchive } from '../../api/exports/archive-requests.ts';
import { readExportStatus } from '../../api/exports/export-status.ts';
import { ExportChanges } from '../../api/exports/export-changes.ts';
import { exportJobOf, incompleteKey } from '../../shared/exports/jobs.ts';
import { ConcurrencyLimit } from '../../shared/platform/concurrency-limit.ts';
import { createLogger } from '../../shared/platform/log.ts';
import { createExportEvents } from '../../shared/exports/queues.ts';
import { noIncompleteBuilds } from '../exports/exports.ts';
import { IncompleteBuilds } from '../../shared/exports/incomplete-builds.ts';
import type { ArchiveStore } from '../../shared/storage/store.ts';
import { useExportLab } from '../exports/lab.ts';
import { viewQueue } from '../exports/open-queue.ts';
import { enqueue, jobNamed, lockToken, openTestQueue } from './scheduling.ts';
import type { TestQueue } from './scheduling.ts';

const lab = useExportLab({}, { worker: true });

/** The dependencies of an archive request, over a store that a test can watch. */
function requestDependencies(archives: ArchiveStore) {
  const { servers, config, db } = lab.harness;
  const events = createExportEvents(servers.redisUrl, config);
  onTestFinished(() => events.close());
  const deps = {
    ...{ db, archives, config, log: createLogger(config, 'test') },
    queue: viewQueue(lab.harness).jobs,
    changes: new ExportChanges(events),
    waits: new ConcurrencyLimit({ concurrent: 1, waiting: 0 }),
    incomplete: noIncompleteBuilds,
  };
  return { events, deps };
}

test('an archive opened for a client that has disconnected is closed again', async () => {
  const version = await lab.build();
  await lab.get(version);
  const client = new AbortController();
  const closed = vi.fn();
  const { archives } = lab.harness.store;
  const { deps } = requestDependencies({
    ...archives,
    open: async (key) => {
      const archive = await archives.open(key);
      client.abort(new Error('the client is gone'));
      if (archive === null) return null;
      const close = async () => {
        closed();
        await archive.close();
      };
      return { ...archive, close };
    },
  });
  const request = requestArchive(deps, exportJobOf(version), client.signal);
  await expect(request).rejects.toThrow('the client is gone');
  expect(closed).toHaveBeenCalledOnce();
});

async function storeArchive(key: string): Promise<void> {
  const draft = await lab.harness.store.archives.create();
  await draft.write([Buffer.from('an archive')]);
  await draft.publish(key, 'a'.repeat(64));
  await draft.discard();
}

/** Reads the status, with a hook that runs just before the store lookup. */
function statusBefore({ queue, redis }: TestQueue, name: string, happens: () => Promise<void>) {
  const { db, config, store } = lab.harness;
  const incomplete = new IncompleteBuilds(redis, config.redisPrefix);
  let left = 2;
  const open = async (key: string) => {
    const archive = await store.archives.open(key);
    left -= 1;
    if (left === 0) {
      await happens();
      await incomplete.record(jobNamed(name).key);
    }
    return archive;
  };
  const archives = { ...store.archives, open };
  return readExportStatus({ db, archives, queue, incomplete, config }, jobNamed(name));
}

test.each([
  { what: 'that is built while its status is read is ready', name: 'a1', keyOf: (key: string) => key },
  { what: 'that lacks files and is built meanwhile is ready', name: 'b1', keyOf: incompleteKey },
  { what: 'that was evicted after its build has the status none', name: 'c1', keyOf: null },
])('an archive $what', async ({ name, keyOf }) => {
  const scheduler = openTestQueue(lab.harness);
  await enqueue(scheduler, name);
  const started = await scheduler.startJob();
  const status = await statusBefore(scheduler, name, async () => {
    if (keyOf !== null) await storeArchive(keyOf(jobNamed(name).key));
    await started?.moveToCompleted({ size: 10, files: 1, failures: 0 }, lockToken, false);
  });
  expect(status.status).toBe(keyOf === null ? 'none' : 'ready');
});
