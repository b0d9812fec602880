import { createServer } from 'node:net';
import type { Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { createWebhook } from '../../shared/webhooks/manage.ts';
import { viewQueue } from '../exports/open-queue.ts';
import { ask, expectError, jsonOf, worksFully } from '../support/answers.ts';
import { buildLearnerToken, buildOrganization, buildVersion, buildPackage } from '../support/factories.ts';
import { exportPath, manifestPath, statusPath } from '../support/factories.ts';
import { testPepper } from '../support/harness.ts';
import { startOwnMongod, startOwnRedis } from '../support/servers.ts';
import { waitFor } from '../support/wait-for.ts';
import { expectArchive, expectCleanFailure, longTimeoutMs, startFleet } from './fleet.ts';
import { temporaryFolder } from '../support/folders.ts';

/** A fleet with its own Redis, which can be killed and restarts empty on the same port. */
async function startFleetWithRedis() {
  let redis = await startOwnRedis();
  onTestFinished(() => redis.stop());
  const fleet = await startFleet({ REDIS_URL: redis.url, WORKER_LOCK_SECONDS: '2' });
  const api = await fleet.startApi();
  await fleet.startWorker();
  return {
    fleet,
    api,
    port: redis.port,
    /** Makes Redis keep its connections and stop responding. */
    freezeRedis: () => process.kill(redis.pid, 'SIGSTOP'),
    thawRedis: () => process.kill(redis.pid, 'SIGCONT'),
    killRedis: async () => {
      redis.kill();
      await redis.exited;
    },
    restartRedis: async () => {
      redis = await startOwnRedis(redis.port);
    },
  };
}

test('all data in Redis is lost in the middle of eight exports, and all of them are right in the end', async () => {
  const { fleet, api, killRedis, restartRedis } = await startFleetWithRedis();
  const held = [await fleet.publishHeld([300_000, 200_000]), await fleet.publishHeld([200_000])];
  const others = await Promise.all(Array.from({ length: 6 }, () => fleet.publish([100_000])));
  const lessons = [...held.map(({ lesson }) => lesson), ...others];
  const { jobs } = viewQueue(fleet.harness);

  const asked = lessons.map((lesson) => fleet.request(api, lesson));
  for (const one of held) await one.held.reached;
  await waitFor('all jobs', async () => (await jobs.getJobs()).length === 8, longTimeoutMs);
  await killRedis();
  await restartRedis();
  for (const one of held) one.held.release();
  for (const [index, lesson] of lessons.entries()) {
    const answer = await asked[index];
    if (answer === undefined) throw new Error('No answer');
    await expectArchive(answer, lesson);
  }
  expect((await fleet.stored()).archives).toHaveLength(8);
  await fleet.requestUntilReady(api, await fleet.publish([100_000]));
});

test('without Redis, a current export and stored ones are served, new ones fail, and all recover afterwards', async () => {
  const { fleet, api, port, freezeRedis, thawRedis, killRedis, restartRedis } = await startFleetWithRedis();
  const { lesson, held } = await fleet.publishHeld([300_000, 200_000]);
  const { organization, headers } = await buildOrganization(fleet.harness);
  const build = async () => buildVersion(fleet.harness, organization, (await buildPackage()).path);
  const [stored, unbuilt] = [await build(), await build()];
  expect((await ask(api.address + exportPath(stored), { headers })).status).toBe(200);

  freezeRedis();
  // A request that waited for Redis would hit the time limit of `ask`.
  expectCleanFailure(await ask(api.address + exportPath(unbuilt), { headers }));
  thawRedis();
  await waitFor('all dependencies', () => worksFully(api.address), longTimeoutMs);

  const asked = fleet.request(api, lesson);
  await held.reached;
  await killRedis();
  held.release();
  await expectArchive(await asked, lesson);
  // The store decides what is ready, whatever happened to the queue.
  await expectArchive(await fleet.request(api, lesson), lesson);
  expect((await ask(api.address + manifestPath(stored), { headers })).status).toBe(200);
  const status = jsonOf(await ask(api.address + statusPath(stored), { headers }));
  const total: unknown = expect.toSatisfy((files: number) => files > 0);
  expect(status).toMatchObject({ status: 'ready', progress: { total } });
  for (const path of [exportPath, manifestPath, statusPath]) {
    expectCleanFailure(await ask(api.address + path(unbuilt), { headers }));
    const prefer = { ...headers, prefer: 'respond-async' };
    expectCleanFailure(await ask(api.address + path(unbuilt), { headers: prefer }));
  }

  // Long enough for clients with reconnect backoff to give up, if any does.
  let attempts = 0;
  const refusing = createServer((socket: Socket) => {
    attempts += 1;
    socket.destroy();
  }).listen(port, '127.0.0.1');
  await waitFor('attempts to reconnect', () => attempts >= 40, longTimeoutMs);
  await new Promise((resolve) => refusing.close(resolve));
  await restartRedis();
  await fleet.requestUntilReady(api, await fleet.publish([100_000]));
});

test('without MongoDB each endpoint gets 500 with its own message and a retry time; afterwards exports recover, and one that was being built is reported once', async () => {
  const dbPath = await temporaryFolder();
  let mongod = await startOwnMongod(dbPath);
  onTestFinished(() => mongod.stop());
  const fleet = await startFleet({ MONGODB_URI: mongod.url });
  const { db } = fleet.harness;
  const api = await fleet.startApi();
  await fleet.startWorker();
  const lesson = await fleet.publish([1000]);
  await expectArchive(await fleet.request(api, lesson), lesson);
  const types = ['export.ready' as const, 'export.failed' as const];
  const settings = { url: 'https://receiver.invalid/', types, description: '' };
  await createWebhook(db, testPepper, fleet.organization._id, settings);
  const { lesson: building, held } = await fleet.publishHeld([1000]);
  const asked = fleet.request(api, building);
  await held.reached;
  const { organization, headers } = await buildOrganization(fleet.harness);
  const { lessonId } = lesson.version;
  const token = buildLearnerToken({ organizationId: organization._id, lessonId });
  const learners = `${api.address}/api/public/lessons/${lessonId}`;
  const body = JSON.stringify({ lessonId, learnerId: 'learner-1' });
  const signing = { method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body };

  mongod.kill();
  await mongod.exited;
  held.release();
  const [archive, ...answers] = await Promise.all([
    fleet.request(api, lesson),
    ask(`${api.address}/api/public/sign-token`, signing),
    ask(`${learners}/progress/learner-1`, { headers }),
    ask(`${learners}/lti-progress/user-1?platformId=platform-1`, { headers }),
    ask(`${learners}/player-data?token=${token}`),
    ask(`${learners}/session?token=${token}`),
  ]);
  expectCleanFailure(archive);
  const words = [
    'Failed to generate token',
    'Failed to fetch progress data',
    'Failed to fetch progress data',
    'An unexpected error occurred while fetching lesson data',
    'An unexpected error occurred',
  ];
  for (const [index, answer] of answers.entries()) {
    expectError(answer, 500, words[index] ?? '');
    expect(answer.headers.get('retry-after')).toBe('10');
  }
  for (const answer of answers.slice(3)) expect(answer.headers.get('access-control-allow-origin')).toBe('*');

  mongod = await startOwnMongod(dbPath, mongod.port);
  await fleet.requestUntilReady(api, lesson);
  // The request that waited for it may have ended with an error, as those above.
  await asked;
  await fleet.requestUntilReady(api, building);
  const typesOf = async () => (await db.eventDeliveries.find().lean()).map(({ type }) => type);
  await waitFor('the event', async () => (await typesOf()).length > 0, longTimeoutMs);
  expect(await typesOf()).toEqual(['export.ready']);
});
