import { afterAll, beforeAll, expect, test } from 'vitest';
import { readExportStatus } from '../../api/exports/export-status.ts';
import { incompleteKey } from '../../shared/exports/jobs.ts';
import { createIncompleteBuilds } from '../../shared/coordination/incomplete-builds.ts';
import { BestEffortRedis } from '../../shared/platform/best-effort-redis.ts';
import { startHarness } from '../support/harness.ts';
import type { Harness } from '../support/harness.ts';
import { ask, jobNamed, lockToken, openTurns } from './turns.ts';
import type { Turns } from './turns.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.close());

async function storeArchive(key: string): Promise<void> {
  const draft = await harness.store.archives.create();
  await draft.write([Buffer.from('an archive')]);
  await draft.publish(key, 'a'.repeat(64));
  await draft.discard();
}

/** Reads the status, with a hook that runs just before the store lookup. */
function statusBefore({ queue, redis }: Turns, name: string, happens: () => Promise<void>) {
  const incomplete = createIncompleteBuilds(new BestEffortRedis(redis, harness.config.redisPrefix));
  const { db, config, store } = harness;
  let left = 2;
  const open = async (key: string) => {
    const archive = await store.archives.open(key);
    left -= 1;
    if (left === 0) {
      await happens();
      await incomplete.note(jobNamed(name).key);
    }
    return archive;
  };
  const archives = { ...store.archives, open };
  return readExportStatus({ db, archives, queue, incomplete, config }, jobNamed(name));
}

test.each([
  { what: 'an archive', name: 'a1', keyOf: (key: string) => key },
  { what: 'an archive that lacks files', name: 'b1', keyOf: incompleteKey },
])('$what that is built while its status is read is ready, not none', async ({ name, keyOf }) => {
  const turns = openTurns(harness);
  await ask(turns, name);
  const started = await turns.startJob();
  const status = await statusBefore(turns, name, async () => {
    await storeArchive(keyOf(jobNamed(name).key));
    await started?.moveToCompleted({ size: 10, files: 1, failures: 0 }, lockToken);
  });
  expect(status).toMatchObject({ status: 'ready' });
});

test('a built archive that was evicted has the status none', async () => {
  const turns = openTurns(harness);
  await ask(turns, 'c1');
  const started = await turns.startJob();
  const status = await statusBefore(turns, 'c1', async () => {
    await started?.moveToCompleted({ size: 10, files: 1, failures: 0 }, lockToken);
  });
  expect(status).toMatchObject({ status: 'none' });
});
