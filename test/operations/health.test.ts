import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { buildIndexes } from '../../shared/models/database.ts';
import { release } from '../../shared/platform/paths.ts';
import { connectRedis } from '../../shared/platform/redis.ts';
import { forgetIndexes } from '../support/built-indexes.ts';
import { startOwnRedis } from '../support/servers.ts';
import { useApi, useStarted } from '../support/use.ts';
import { waitFor } from '../support/wait-for.ts';
import { buildOrganization } from '../support/factories.ts';
import { ask, jsonOf } from '../support/answers.ts';

const redis = useStarted(
  async () => ({ current: await startOwnRedis() }),
  ({ current }) => current.stop(),
);
const api = useApi(() => ({ REDIS_URL: redis.current.url }));

async function statusOf(check: 'live' | 'ready', address = api.url) {
  const answer = await ask(`${address}/health/${check}`);
  return { status: answer.status, body: jsonOf(answer) };
}

const live = { status: 200, body: { status: 'ok' } };
const good = { mongodb: 'ok', indexes: 'ok', redis: 'ok', store: 'ok' };
const ready = { status: 200, body: { release, status: 'ok', checks: good } };
const degraded = (failed: Partial<typeof good>) => ({
  status: 200,
  body: { release, status: 'degraded', checks: { ...good, ...failed } },
});
const isDegraded = async () => isDeepStrictEqual((await statusOf('ready')).body, withoutRedis.body);
const withoutRedis = degraded({ redis: 'failed' });

test('concurrent requests share one check of MongoDB and Redis', async () => {
  const database = api.db.connection.db;
  if (database === undefined) throw new Error('not connected');
  const view = await connectRedis(redis.current.url);
  onTestFinished(() => view.disconnect());
  const infoCalls = async () =>
    Number(/^cmdstat_info:calls=(\d+)/m.exec(await view.info('commandstats'))?.[1] ?? 0);

  await database.command({ profile: 2 });
  const before = await infoCalls();
  const asked = await Promise.all(Array.from({ length: 50 }, () => statusOf('ready')));
  const calls = (await infoCalls()) - before;
  await database.command({ profile: 0 });
  const listed = await database
    .collection('system.profile')
    .countDocuments({ 'command.listIndexes': api.db.organizations.collection.name });

  expect(asked.every(({ status }) => status === 200)).toBe(true);
  // On a busy machine, the shared result may expire in between.
  expect(listed).toBeLessThan(25);
  expect(calls).toBeLessThan(25);
});

test('an API without Redis is degraded, still serves learners and lists, and recovers', async () => {
  expect(await statusOf('live')).toEqual(live);
  expect(await statusOf('ready')).toEqual(ready);
  const { headers } = await buildOrganization(api);

  redis.current.kill();
  await redis.current.exited;
  await waitFor('the failure', isDegraded);
  expect(await statusOf('ready')).toEqual(withoutRedis);
  expect(await statusOf('live')).toEqual(live);
  expect((await ask(`${api.url}/api/lessons`, { headers })).status).toBe(200);

  redis.current = await startOwnRedis(redis.current.port);
  await waitFor('the API to be ready again', async () => isDeepStrictEqual(await statusOf('ready'), ready));
});

test('an API whose Redis is full is degraded', async () => {
  const view = await connectRedis(redis.current.url);
  onTestFinished(async () => {
    await view.config('SET', 'maxmemory', '0');
    view.disconnect();
  });
  await view.config('SET', 'maxmemory', '1');
  await waitFor('a full Redis', isDegraded);
});

test('an API whose database lacks an index, or that cannot write to its store, is degraded', async () => {
  const address = await api.startApi();
  await api.db.organizations.collection.dropIndexes();
  onTestFinished(() => {
    forgetIndexes(api.db);
    return buildIndexes(api.db);
  });
  expect(await statusOf('ready', address)).toEqual(degraded({ indexes: 'failed' }));
  const temporaries = join(api.config.storeDir, 'v1', 'tmp');
  await rm(temporaries, { recursive: true });
  await writeFile(temporaries, 'a file where a folder should be');
  const both = degraded({ indexes: 'failed', store: 'failed' });
  await waitFor('both failures', async () => isDeepStrictEqual(await statusOf('ready', address), both));
});
