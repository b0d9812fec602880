import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { createDownloader } from '../../../shared/media/downloads/downloader.ts';
import { MediaCache } from '../../../shared/media/media-cache.ts';
import { joinStore } from '../../maintenance/eviction/evictable.ts';
import { startHarness } from '../../support/harness.ts';
import type { Harness } from '../../support/harness.ts';
import { file, hang, startOrigin } from '../../support/origin.ts';
import type { Origin } from '../../support/origin.ts';
import { waitFor } from '../../support/wait-for.ts';

let origin: Origin;
let harness: Harness;
beforeAll(async () => {
  origin = await startOrigin();
  harness = await startHarness({
    LECTERN_ALLOWED_PRIVATE_HOSTS: origin.host,
    DOWNLOAD_CONCURRENCY_PER_HOST: '2',
  });
});
afterAll(async () => {
  await harness.close();
  await origin.close();
});

/** One build of an organization, in a worker of its own. Ends with the test. */
async function startBuild(organizationId: string) {
  const worker = await joinStore(harness);
  const downloader = createDownloader(harness.config.download);
  const stop = new AbortController();
  onTestFinished(() => {
    stop.abort(new Error('the test has ended'));
    downloader.close();
  });
  const cache = new MediaCache({ db: harness.db, ...worker, downloader });
  await cache.prepare([]);
  const get = (path: string, maxBytes = 1000) =>
    cache.get({
      organizationId,
      url: origin.url(path),
      mimeType: 'image/png',
      maxBytes,
      signal: stop.signal,
    });
  return { redis: worker.redis, get };
}

test('a build does not wait for a download that waits for another organization’s slots', async () => {
  const [hostile, tenant] = [await startBuild('hostile'), await startBuild('tenant')];
  const bytes = Buffer.alloc(100, 'a');
  origin.script('/slow.png', hang());
  origin.script('/wanted.png', file(bytes));
  const waiting = [hostile.get('/slow.png'), hostile.get('/wanted.png')];
  for (const download of waiting) download.catch(() => undefined);
  const leases = () => hostile.redis.keys(`${harness.config.redisPrefix}:download:*`);
  await waitFor('the leases of both downloads', async () => (await leases()).length === 2);
  await waitFor('the request that takes the slot', () => origin.requests('/slow.png') === 1);

  expect((await tenant.get('/wanted.png')).size).toBe(bytes.length);
  expect(origin.requests('/wanted.png')).toBe(1);
});

test('a file that is too large under one limit is downloaded where the limit is higher', async () => {
  const build = await startBuild('tenant');
  origin.script('/large.png', file(Buffer.alloc(500, 'b')));
  await expect(build.get('/large.png', 200)).rejects.toThrow(/allowed are 200/);
  expect((await build.get('/large.png')).size).toBe(500);
});
