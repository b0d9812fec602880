import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { expect, onTestFinished, test } from 'vitest';
import { createWebhook } from '../../shared/webhooks/manage.ts';
import { dumpOf, findMarkers, plantLearner, restore } from '../erasure/learner-lab.ts';
import { lecternJson } from '../cli/command-line.ts';
import { publishLesson } from '../player/player-lessons.ts';
import { ask, jsonOf } from '../support/answers.ts';
import { startApiProcess } from '../support/api-process.ts';
import { startCompiled } from '../support/compiled-process.ts';
import { buildOrganization } from '../support/factories.ts';
import { startHarness, testPepper } from '../support/harness.ts';
import type { Harness } from '../support/harness.ts';
import { waitFor } from '../support/wait-for.ts';
import { useReceiver } from '../webhooks/receiver.ts';

const receiver = useReceiver();

/** Returns the bytes of everything that Redis has of an installation, uncompressed, as its file has them. */
async function redisBytes({ environment }: Harness): Promise<Buffer> {
  const redis = new Redis(environment.REDIS_URL as string);
  try {
    await redis.config('SET', 'rdbcompression', 'no');
    const keys = await redis.keys(`*${environment.REDIS_PREFIX}*`);
    const values = await Promise.all(keys.map((key) => redis.dumpBuffer(key)));
    return Buffer.concat([Buffer.from(keys.join('\n')), ...values.filter(Boolean)]);
  } finally {
    redis.disconnect();
  }
}

/** Returns the names and bytes of all files in a folder. */
async function filesIn(folder: string): Promise<Buffer> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return Buffer.concat([
    Buffer.from(files.join('\n')),
    ...(await Promise.all(files.map((path) => readFile(path)))),
  ]);
}

test('no byte of a learner is left in MongoDB, Redis, the store or the logs, though workers are killed in each phase, and after a restore', async () => {
  const harness = await startHarness({
    LOG_LEVEL: 'debug',
    LECTERN_ALLOWED_PRIVATE_HOSTS: `127.0.0.1:${receiver.port}`,
  });
  onTestFinished(() => harness.close());
  const { db, environment } = harness;
  const api = await startApiProcess(harness);
  onTestFinished(async () => void (await api.end('SIGKILL')));
  const { organization, headers } = await buildOrganization(harness);
  const version = await publishLesson(harness, organization);
  const types = ['progress.started', 'progress.scored', 'progress.updated', 'learner.erased'] as const;
  await createWebhook(db, testPepper, organization._id, {
    url: receiver.url('/'),
    types: [...types],
    description: '',
  });

  let output = '';
  const startWorker = async () => {
    const worker = await startCompiled('worker/main', environment);
    const kill = async () => {
      worker.signal('SIGKILL');
      await worker.ended;
      output += worker.output();
    };
    onTestFinished(() => worker.signal('SIGKILL'));
    return kill;
  };
  let kill = await startWorker();
  const learners = [
    await plantLearner({ db, url: api.url }, version, { source: 'embed' }),
    await plantLearner({ db, url: api.url }, version, { source: 'lti' }),
  ];
  const markers = learners.flatMap((learner) => learner.markers);
  const [{ subject: embed }, { subject: lti }] = learners as [(typeof learners)[0], (typeof learners)[0]];
  if (embed.source !== 'embed' || lti.source !== 'lti') throw new Error('unexpected learners');
  const ofLesson = `${api.url}/api/public/lessons/${version.lessonId}`;
  const ofLti = `lti-progress/${lti.ltiUserId}?platformId=${lti.platformId}`;
  for (const path of [`progress/${embed.learnerId}`, ofLti]) {
    expect((await ask(`${ofLesson}/${path}`, { headers })).status).toBe(200);
  }
  await waitFor('events', () => receiver.of('progress.started', '/').length === 2, 180_000);
  expect((await findMarkers(db, markers)).length).toBeGreaterThan(10);
  const backup = await dumpOf(db);

  const paths = [
    `/api/learners/${embed.learnerId}`,
    `/api/lti-learners/${lti.ltiUserId}?platformId=${lti.platformId}`,
  ];
  const ids: string[] = [];
  for (const path of paths) {
    await kill();
    const requested = await ask(api.url + path, { method: 'DELETE', headers });
    ids.push((jsonOf(requested) as { id: string }).id);
    kill = await startWorker();
    // Killed while it removes, or just before or after that.
    await waitFor(
      'the claim',
      async () => (await db.erasures.findOne({ _id: ids.at(-1), downstream: { $ne: null } }).lean()) !== null,
      180_000,
    );
    await kill();
    kill = await startWorker();
  }
  await waitFor(
    'settling',
    async () => (await db.erasures.countDocuments({ state: 'settling' })) > 0,
    180_000,
  );
  await kill();
  kill = await startWorker();
  const isFinished = async (id: string) => {
    const report = jsonOf(await ask(`${api.url}/api/erasures/${id}`, { headers })) as { state: string };
    return report.state === 'finished';
  };
  for (const id of ids) await waitFor('the end', () => isFinished(id), 300_000);
  await waitFor('learner.erased', () => receiver.of('learner.erased', '/').length === 2, 180_000);
  const scan = async () => {
    const places = {
      redis: await redisBytes(harness),
      store: await filesIn(harness.config.dataDir),
      logs: Buffer.from(api.output() + output),
    };
    return [
      ...(await findMarkers(db, markers)),
      ...Object.entries(places).flatMap(([place, bytes]) =>
        markers.filter((marker) => bytes.includes(marker)).map((marker) => `${place}: ${marker}`),
      ),
    ];
  };
  await waitFor('the receiver’s answer', async () => (await scan()).length === 0).catch(() => undefined);
  expect(await scan()).toEqual([]);
  expect((api.output() + output).length).toBeGreaterThan(1000);

  // The old backup, restored while Lectern is stopped.
  await kill();
  await restore(db, backup);
  expect((await findMarkers(db, markers)).length).toBeGreaterThan(10);
  await lecternJson({ ...environment, LOG_LEVEL: 'silent' }, 'doctor').catch(() => undefined);
  kill = await startWorker();
  await waitFor('both reports', () => receiver.of('learner.erased', '/').length === 4, 180_000);
  await waitFor('the receiver’s answer', async () => (await scan()).length === 0).catch(() => undefined);
  expect(await scan()).toEqual([]);
  await kill();
}, 900_000);
