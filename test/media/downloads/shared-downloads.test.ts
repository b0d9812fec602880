import { expect, onTestFinished, test } from 'vitest';
import { createDownloader } from '../../../shared/media/downloads/downloader.ts';
import { MediaCache } from '../../../shared/media/media-cache.ts';
import { holdFile } from '../../fleet/held-file.ts';
import { file, hang, slowly } from '../../support/origin.ts';
import { useHarness, useOrigin } from '../../support/use.ts';
import { waitFor } from '../../support/wait-for.ts';

const origin = useOrigin();
const harness = useHarness(() => ({
  LECTERN_ALLOWED_PRIVATE_HOSTS: origin.host,
  DOWNLOAD_CONCURRENCY_PER_HOST: '2',
}));

/** Starts a build of an organization in its own worker, until the end of the test. */
async function startBuild(organizationId: string) {
  const downloader = createDownloader(harness.config.download);
  const stop = new AbortController();
  onTestFinished(() => {
    stop.abort(new Error('the test has ended'));
    downloader.close();
  });
  const cache = new MediaCache({ ...harness, downloader });
  await cache.prepare([]);
  const get = (path: string, maxBytes = 1000) =>
    cache.get({
      organizationId,
      url: origin.url(path),
      mimeType: 'image/png',
      maxBytes,
      signal: stop.signal,
    });
  return { get, stop: () => stop.abort(new Error('stopped')) };
}

test('a build does not wait for a download of another organization, and the same organization’s builds share it', async () => {
  const [hostile, first, second] = [
    await startBuild('hostile'),
    await startBuild('tenant'),
    await startBuild('tenant'),
  ];
  const bytes = Buffer.alloc(100, 1);
  origin.script('/slow.png', hang());
  origin.script('/wanted.png', hang(), slowly(bytes, 2, 50));
  const waiting = [hostile.get('/slow.png'), hostile.get('/wanted.png')];
  for (const download of waiting) download.catch(() => undefined);
  await waitFor('the requests that take the connections', () => origin.requests('/wanted.png') === 1);

  const sizes = await Promise.all([first.get('/wanted.png'), second.get('/wanted.png')]);
  expect(sizes.map(({ size }) => size)).toEqual([bytes.length, bytes.length]);
  expect(origin.requests('/wanted.png')).toBe(2);
});

test('a file that exceeds one limit is downloaded for a higher one', async () => {
  const build = await startBuild('tenant');
  origin.script('/large.png', file(Buffer.alloc(500, 2)));
  await expect(build.get('/large.png', 200)).rejects.toThrow(/at most 200 are allowed/);
  expect((await build.get('/large.png')).size).toBe(500);
});

test('a build whose partner is stopped gets the file from the same download', async () => {
  const [stopped, build] = [await startBuild('tenant'), await startBuild('tenant')];
  const bytes = Buffer.alloc(100, 3);
  const held = holdFile(bytes);
  origin.script('/held.png', held.behavior);
  const left = stopped.get('/held.png');
  await held.reached;
  const wanted = build.get('/held.png');
  stopped.stop();
  await expect(left).rejects.toThrow('stopped');
  held.release();
  expect((await wanted).size).toBe(bytes.length);
  expect(origin.requests('/held.png')).toBe(1);
});
