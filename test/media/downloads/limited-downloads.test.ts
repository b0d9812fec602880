import { expect, onTestFinished, test } from 'vitest';
import { ExternalMedia } from '../../../api/media/external-media.ts';
import { createDownloader } from '../../../shared/media/downloads/downloader.ts';
import { createLogger } from '../../../shared/platform/log.ts';
import { MediaCache } from '../../../shared/media/media-cache.ts';
import { joinStore } from '../../maintenance/eviction/evictable.ts';
import { startHarness } from '../../support/harness.ts';
import { file, hang, startOrigin } from '../../support/origin.ts';
import { waitFor } from '../../support/wait-for.ts';

test('a build that waits for what learners have no more time for downloads it itself', async () => {
  const origin = await startOrigin();
  onTestFinished(() => origin.close());
  const harness = await startHarness({ LECTERN_ALLOWED_PRIVATE_HOSTS: origin.host });
  onTestFinished(() => harness.close());
  const { db, config } = harness;
  const [api, worker] = [await joinStore(harness), await joinStore(harness)];
  const downloader = createDownloader(config.download);
  onTestFinished(() => downloader.close());
  const bytes = Buffer.alloc(100, 'a');
  origin.script('/slow.png', hang(), file(bytes));
  const medium = { url: origin.url('/slow.png'), mimeType: 'image/png', organizationId: 'tenant' };
  const { signal } = new AbortController();

  const log = createLogger(config, 'test');
  const external = new ExternalMedia({ db, ...api, downloader, config, log }, { downloadMs: 3_000 });
  const cache = new MediaCache({ db, ...worker, downloader });
  await cache.prepare([medium.url]);
  const forLearner = external.get(medium, signal);
  await waitFor('its download', () => origin.requests('/slow.png') === 1);
  const forBuild = cache.get({ ...medium, maxBytes: 1000, signal });
  expect(await forLearner).toBeNull();
  expect((await forBuild).size).toBe(bytes.length);
});
