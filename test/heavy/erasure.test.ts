import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { expect, inject, onTestFinished, test } from 'vitest';
import { createWebhook } from '../../shared/webhooks/manage.ts';
import { dumpOf, findMarkers, plantLearner, restore } from '../erasure/learner-lab.ts';
import { lecternHere } from '../cli/command-line.ts';
import { publishLesson } from '../player/player-lessons.ts';
import { ask, jsonOf } from '../support/answers.ts';
import { startApiProcess } from '../support/api-process.ts';
import { startCompiled } from '../support/compiled-process.ts';
import { findDebianProgram } from '../support/debian-programs.ts';
import { buildOrganization } from '../support/factories.ts';
import { startHarness, testPepper } from '../support/harness.ts';
import { startRedisWithFile } from '../support/redis-with-file.ts';
import { waitFor } from '../support/wait-for.ts';
import { useReceiver } from '../webhooks/receiver.ts';

const receiver = useReceiver();
const redisServer = await findDebianProgram('redis-server', inject('cacheDir'));

/** Returns the names and bytes of all files in a folder. */
async function filesIn(folder: string): Promise<Buffer> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return Buffer.concat([
    Buffer.from(files.join('\n')),
    ...(await Promise.all(files.map((path) => readFile(path)))),
  ]);
}

test.skipIf(redisServer === null)(
  'no byte of a learner is left in dumps of MongoDB and Redis, the store or the logs, though processes are killed in each phase, and after a restore',
  async () => {
    const redisFolder = await mkdtemp(join(tmpdir(), 'lectern-redis-'));
    onTestFinished(() => rm(redisFolder, { recursive: true }));
    const redis = await startRedisWithFile(redisServer ?? '', redisFolder);
    onTestFinished(() => redis.stop());
    const harness = await startHarness({
      ...{ LOG_LEVEL: 'debug', REDIS_URL: redis.url },
      LECTERN_ALLOWED_PRIVATE_HOSTS: `127.0.0.1:${receiver.port}`,
    });
    onTestFinished(() => harness.close());
    const { db, environment } = harness;
    let api = await startApiProcess(harness);
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
    const { lessonId } = version;
    const ofEmbed = `/api/learners/${embed.learnerId}`;
    const ofLti = `/api/lti-learners/${lti.ltiUserId}`;
    const platform = `platformId=${lti.platformId}`;
    const reads = [
      `/api/public/lessons/${lessonId}/progress/${embed.learnerId}`,
      `/api/public/lessons/${lessonId}/lti-progress/${lti.ltiUserId}?${platform}`,
      `/api/lessons/${lessonId}/learners`,
      `/api/lessons/${lessonId}/answers.csv`,
      `/api/audit?learnerId=${embed.learnerId}`,
      ...[`${ofEmbed}/export`, `${ofLti}/export?${platform}`],
    ];
    for (const path of reads) expect((await ask(api.url + path, { headers })).status).toBe(200);
    await waitFor(
      'statistics',
      async () => {
        const { status } = await ask(`${api.url}/api/lessons/${lessonId}/statistics`, { headers });
        return status === 200;
      },
      180_000,
    );
    await waitFor('events', () => receiver.of('progress.started', '/').length === 2, 180_000);
    expect((await findMarkers(db, markers)).length).toBeGreaterThan(10);
    const backup = await dumpOf(db);
    // The scan finds them in a file of Redis too.
    const client = new Redis(redis.url);
    await client.set('planted', embed.learnerId);
    expect((await redis.file()).includes(embed.learnerId)).toBe(true);
    await client.del('planted');
    client.disconnect();

    const ids: string[] = [];
    for (const path of [ofEmbed, `${ofLti}?${platform}`]) {
      await kill();
      // The API is killed while it responds, or just before or after that. Another request repeats the work.
      const interrupted = ask(api.url + path, { method: 'DELETE', headers }).catch(() => undefined);
      await waitFor('the erasure', async () => (await db.erasures.countDocuments()) > ids.length, 180_000);
      await api.end('SIGKILL');
      await interrupted;
      output += api.output();
      api = await startApiProcess(harness);
      const requested = await ask(api.url + path, { method: 'DELETE', headers });
      ids.push((jsonOf(requested) as { id: string }).id);
      expect(await db.erasures.countDocuments()).toBe(ids.length);
      kill = await startWorker();
      // Killed while it removes, or just before or after that.
      await waitFor(
        'the claim',
        async () =>
          (await db.erasures.findOne({ _id: ids.at(-1), downstream: { $ne: null } }).lean()) !== null,
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
        redis: await redis.file(),
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
    await kill();
    expect(await scan()).toEqual([]);
    expect((api.output() + output).length).toBeGreaterThan(1000);

    // The old backup, restored while no worker runs.
    await restore(db, backup);
    expect((await findMarkers(db, markers)).length).toBeGreaterThan(10);
    // It fails, because no worker runs.
    const { stdout } = await lecternHere({ ...environment, LOG_LEVEL: 'silent' }, 'doctor');
    expect(stdout).toContain('2 learners erased again after a restore');
    kill = await startWorker();
    await waitFor('both reports', () => receiver.of('learner.erased', '/').length === 4, 180_000);
    await waitFor('the receiver’s answer', async () => (await scan()).length === 0).catch(() => undefined);
    await kill();
    expect(await scan()).toEqual([]);
  },
  900_000,
);
