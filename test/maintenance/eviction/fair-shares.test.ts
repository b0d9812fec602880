import { randomBytes } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import { exportJobOf } from '../../../shared/exports/jobs.ts';
import { ask } from '../../support/answers.ts';
import { buildOrganization, buildPackage, buildVersion, exportPath } from '../../support/factories.ts';
import { file, startOrigin } from '../../support/origin.ts';
import { ageStore, bytesIn, evictorOf, startEviction, storeArchive, storeDownload } from './evictable.ts';
import type { StoredFile } from './evictable.ts';

const KB = 1000;

const there = (files: StoredFile[]) => Promise.all(files.map((one) => one.isThere()));

test('an organization within its share keeps what it used long ago, while others lose what they used last', async () => {
  const { harness, worker } = await startEviction();
  const small = [await storeArchive(harness, 20 * KB, 500), await storeDownload(harness, 20 * KB, 400)];
  const large = [
    await storeDownload(harness, 40 * KB, 30),
    await storeDownload(harness, 40 * KB, 20),
    await storeDownload(harness, 40 * KB, 10),
  ];
  await worker.coordination.usage.addOwner(
    'small',
    small.map(({ name }) => name),
  );
  await worker.coordination.usage.addOwner(
    'large',
    large.map(({ name }) => name),
  );
  const evictor = evictorOf(harness, worker, { maxBytes: 100 * KB });
  expect(await evictor.keepLimits()).toEqual({ files: 2, bytes: 80 * KB });
  expect(await there(small)).toEqual([true, true]);
  expect(await there(large)).toEqual([false, false, true]);
});

test('a file of several organizations stays as long as one of them is within its share', async () => {
  const { harness, worker } = await startEviction();
  const shared = await storeDownload(harness, 30 * KB, 500);
  const large = [await storeDownload(harness, 60 * KB, 30), await storeDownload(harness, 30 * KB, 10)];
  await worker.coordination.usage.addOwner('small', [shared.name]);
  await worker.coordination.usage.addOwner(
    'large',
    [shared, ...large].map(({ name }) => name),
  );
  await evictorOf(harness, worker, { maxBytes: 100 * KB }).keepLimits();
  expect(await there([shared, ...large])).toEqual([true, false, true]);
});

test('files of which nothing is known share one share', async () => {
  const { harness, worker } = await startEviction();
  const unknown = [await storeDownload(harness, 50 * KB, 30), await storeDownload(harness, 30 * KB, 10)];
  const known = await storeArchive(harness, 30 * KB, 500);
  await worker.coordination.usage.addOwner('small', [known.name]);
  await evictorOf(harness, worker, { maxBytes: 100 * KB }).keepLimits();
  expect(await there([...unknown, known])).toEqual([false, true, true]);
});

test('on a full disk room is made where most is held', async () => {
  const { harness, worker } = await startEviction();
  const small = await storeArchive(harness, 20 * KB, 500);
  const large = await storeDownload(harness, 60 * KB, 10);
  await worker.coordination.usage.addOwner('small', [small.name]);
  await worker.coordination.usage.addOwner('large', [large.name]);
  await evictorOf(harness, worker, {}).makeRoom(10 * KB);
  expect(await there([small, large])).toEqual([true, false]);
});

test('a tenant whose media change at each fetch fills its own share, and takes no archive from another', async () => {
  const origin = await startOrigin();
  onTestFinished(() => origin.close());
  const { harness, worker } = await startEviction({ LECTERN_ALLOWED_PRIVATE_HOSTS: origin.host });
  const api = await harness.startApi();
  await harness.startWorker();
  const picture = { contentType: 'image/png' };
  origin.serve('/steady', randomBytes(30 * KB), picture);
  origin.script('/changing', (...exchange) => file(randomBytes(30 * KB), picture)(...exchange));
  const publish = async (...names: string[]) => {
    const tenant = await buildOrganization(harness);
    const media = names.map((name) => ({ sourceUrl: origin.url(name) }));
    const version = await buildVersion(harness, tenant.organization, (await buildPackage({ media })).path);
    return {
      key: exportJobOf(version).key,
      get: () => ask(api + exportPath(version), { headers: tenant.headers }),
    };
  };
  const honest = await publish('/steady');
  const hostile = await publish('/changing', '/dead');
  const first = await honest.get();
  // Long before all that follows, and not used since.
  await ageStore(harness, worker.redis, 60);

  for (let count = 0; count < 6; count += 1) {
    expect((await hostile.get()).status).toBe(200);
    const waits = `${harness.config.redisPrefix}:incomplete:${hostile.key}`;
    await worker.redis.hincrby(waits, 'at', -3_600_000);
  }
  expect(origin.requests('/changing')).toBe(6);
  await ageStore(harness, worker.redis, 0);
  await ageStore(harness, worker.redis, 5);
  // Both archives have some 60 kB of widgets, too.
  const limits = { maxBytes: 300 * KB };
  await evictorOf(harness, worker, limits).keepLimits();

  const left = await harness.store.archives.open(honest.key);
  await left?.close();
  expect(left?.sha256).toBe(first.headers.get('etag')?.slice(1, -1));
  expect(await bytesIn(harness.store)).toBeLessThan(limits.maxBytes);
});
