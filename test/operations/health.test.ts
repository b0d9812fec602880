import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { startRedis } from '../../shared/embedded/redis.ts';
import { connectRedis } from '../../shared/platform/redis.ts';
import { startHarness } from '../support/harness.ts';
import type { Harness } from '../support/harness.ts';
import { waitFor } from '../support/wait-for.ts';
import { ask, jsonOf } from '../support/answers.ts';

async function start(settings: Record<string, string> = {}): Promise<{ harness: Harness; address: string }> {
  const harness = await startHarness(settings);
  onTestFinished(() => harness.close());
  return { harness, address: await harness.startApi() };
}

async function statusOf(address: string, check: 'live' | 'ready') {
  const answer = await ask(`${address}/health/${check}`);
  return { status: answer.status, body: jsonOf(answer) };
}

const live = { status: 200, body: { status: 'ok' } };
const good = { mongodb: 'ok', indexes: 'ok', redis: 'ok', store: 'ok' };
const ready = { status: 200, body: { status: 'ok', checks: good } };
const notReady = (failed: Partial<typeof good>) => ({
  status: 503,
  body: { status: 'unavailable', checks: { ...good, ...failed } },
});

test('an API is not ready while Redis hangs or is down, stays live, and recovers', async () => {
  let redis = await startRedis();
  onTestFinished(() => redis.stop());
  const { address } = await start({ REDIS_URL: redis.url });
  expect(await statusOf(address, 'live')).toEqual(live);
  expect(await statusOf(address, 'ready')).toEqual(ready);

  process.kill(redis.pid, 'SIGSTOP');
  await waitFor('the timeout', async () => (await statusOf(address, 'ready')).status === 503);
  expect(await statusOf(address, 'ready')).toEqual(notReady({ redis: 'failed' }));
  process.kill(redis.pid, 'SIGCONT');
  await waitFor('the API to be ready', async () => (await statusOf(address, 'ready')).status === 200);

  redis.kill();
  await redis.exited;
  await waitFor('the failure', async () => (await statusOf(address, 'ready')).status === 503);
  expect(await statusOf(address, 'ready')).toEqual(notReady({ redis: 'failed' }));
  expect(await statusOf(address, 'live')).toEqual(live);

  redis = await startRedis({ port: redis.port });
  await waitFor('the API to be ready again', async () => (await statusOf(address, 'ready')).status === 200);
});

test('an API whose database lacks an index, or that cannot write to its store, is not ready', async () => {
  const { harness, address } = await start();
  await harness.db.organizations.collection.dropIndexes();
  expect(await statusOf(address, 'ready')).toEqual(notReady({ indexes: 'failed' }));
  const temporaries = join(harness.config.storeDir, 'v1', 'tmp');
  await rm(temporaries, { recursive: true });
  await writeFile(temporaries, 'a file where a folder should be');
  const both = notReady({ indexes: 'failed', store: 'failed' });
  await waitFor('both failures', async () => isDeepStrictEqual(await statusOf(address, 'ready'), both));
});

test('concurrent requests share one check of MongoDB and Redis', async () => {
  const redis = await startRedis();
  onTestFinished(() => redis.stop());
  const { harness, address } = await start({ REDIS_URL: redis.url });
  const database = harness.db.connection.db;
  if (database === undefined) throw new Error('not connected');
  const view = await connectRedis(redis.url);
  onTestFinished(() => view.disconnect());
  const infoCalls = async () =>
    Number(/^cmdstat_info:calls=(\d+)/m.exec(await view.info('commandstats'))?.[1] ?? 0);

  await database.command({ profile: 2 });
  const before = await infoCalls();
  const asked = await Promise.all(Array.from({ length: 200 }, () => statusOf(address, 'ready')));
  const calls = (await infoCalls()) - before;
  await database.command({ profile: 0 });
  const listed = await database
    .collection('system.profile')
    .countDocuments({ 'command.listIndexes': harness.db.organizations.collection.name });

  expect(asked.every(({ status }) => status === 200)).toBe(true);
  expect(listed).toBe(1);
  // The count includes the test's own call. On a loaded machine, the cached result may expire in between.
  expect(calls).toBeLessThan(20);
});
