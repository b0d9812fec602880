import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { createDownloader } from '../../../shared/media/downloads/downloader.ts';
import { MediaCache } from '../../../shared/media/media-cache.ts';
import { startHarness } from '../../support/harness.ts';
import type { Harness } from '../../support/harness.ts';
import { answer, startOrigin } from '../../support/origin.ts';
import type { Behaviour, Origin } from '../../support/origin.ts';
import { ageStore, evictorOf, joinStore, backdateUsage } from './evictable.ts';
import type { StoreClient } from './evictable.ts';

const old = 3 * 60;

let harness: Harness;
let origin: Origin;
let worker: StoreClient;
beforeEach(async () => {
  origin = await startOrigin();
  onTestFinished(() => origin.close());
  harness = await startHarness({ LECTERN_ALLOWED_PRIVATE_HOSTS: origin.host });
  onTestFinished(() => harness.close());
  worker = await joinStore(harness);
  await backdateUsage(harness, worker.redis);
});

const evictAll = () => evictorOf(harness, worker, { maxAgeHours: 1 }).keepLimits();

/** Gets a file as a build of a process does. */
async function getAs({ store, coordination }: StoreClient, url: string) {
  const { db, config } = harness;
  const downloader = createDownloader(config.download);
  onTestFinished(() => downloader.close());
  const cache = new MediaCache({ db, store, downloader, coordination });
  await cache.prepare([url]);
  const { signal } = new AbortController();
  const file = await cache.get({
    url,
    organizationId: 'tenant',
    mimeType: 'image/png',
    maxBytes: 1000,
    signal,
  });
  await cache.flush();
  return file;
}

/** An origin that responds when the test releases it. */
function hold(behaviour: Behaviour) {
  let reach: () => void = () => undefined;
  let release: () => void = () => undefined;
  const reached = new Promise<void>((resolve) => (reach = resolve));
  const released = new Promise<void>((resolve) => (release = resolve));
  const held: Behaviour = async (request, response) => {
    reach();
    await released;
    await behaviour(request, response);
  };
  return { held, reached, release };
}

test.each([
  { what: 'says that it has not changed', behaviour: answer(304) },
  { what: 'fails', behaviour: answer(503) },
])('a file of the cache is there when its origin at last $what', async ({ behaviour }) => {
  origin.serve('/a.png', Buffer.alloc(100, 'a'), { etag: '"a"' });
  const url = origin.url('/a.png');
  await getAs(worker, url);
  const builder = await joinStore(harness);
  const { held, reached, release } = hold(behaviour);
  origin.script('/a.png', held, behaviour);

  const getting = getAs(builder, url);
  await reached;
  // As if that had taken longer than a use lasts that was noted when it began.
  await ageStore(harness, worker.redis, old);
  await builder.coordination.usage.touchPinned();
  await evictAll();
  release();
  expect(await harness.store.cache.has(await getting)).toBe(true);
});
