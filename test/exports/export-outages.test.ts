import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, inject, onTestFinished, test } from 'vitest';
import { findMongod } from '../../shared/embedded/find-mongod.ts';
import { startMongod } from '../../shared/embedded/mongod.ts';
import { startRedis } from '../../shared/embedded/redis.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import {
  buildOrganization,
  buildPackage,
  buildVersion,
  exportPath,
  manifestPath,
  statusPath,
} from '../support/factories.ts';
import { startHarness } from '../support/harness.ts';
import { waitFor } from '../support/wait-for.ts';
import { ask, expectFailure, internalError, jsonOf } from '../support/answers.ts';

/**
 * A Lectern whose servers this test may stop, with a function that requests a new version's
 * archive.
 */
async function startOver(settings: Record<string, string>) {
  const harness = await startHarness(settings);
  onTestFinished(() => harness.close());
  const address = await harness.startApi();
  const { organization, headers } = await buildOrganization(harness);
  return {
    harness,
    build: async () => buildVersion(harness, organization, (await buildPackage()).path),
    askFor: (version: LessonVersion, pathOf = exportPath, extra: object = {}) =>
      ask(address + pathOf(version), { headers: { ...headers, ...extra } }),
  };
}

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'lectern-test-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

test('without Redis a new export gets 500 at once and a stored one is served; afterwards exports recover', async () => {
  let redis = await startRedis();
  onTestFinished(() => redis.stop());
  const { harness, build, askFor } = await startOver({ REDIS_URL: redis.url });
  await harness.startWorker();
  const [stored, wanted] = [await build(), await build()];
  expect((await askFor(stored)).status).toBe(200);

  redis.kill();
  await redis.exited;
  const started = performance.now();
  const refused = await askFor(wanted);
  expectFailure(refused, internalError);
  expect(refused.headers.get('retry-after')).toBe('10');
  expect(performance.now() - started).toBeLessThan(10_000);
  expect((await askFor(stored)).status).toBe(200);
  for (const path of [exportPath, manifestPath, statusPath]) {
    const answer = await askFor(wanted, path, { prefer: 'respond-async' });
    expectFailure(answer, internalError);
    expect(answer.headers.get('retry-after')).toBe('10');
  }
  expect((await askFor(stored, manifestPath)).status).toBe(200);
  const status = jsonOf(await askFor(stored, statusPath)) as { status: string; progress: { total: number } };
  expect(status.status).toBe('ready');
  expect(status.progress.total).toBeGreaterThan(0);

  redis = await startRedis({ port: redis.port });
  await waitFor('an export after Redis is back', async () => (await askFor(wanted)).status === 200);
});

test('without MongoDB an export gets 500 with a retry time; afterwards exports recover', async () => {
  const report = () => undefined;
  const { signal } = new AbortController();
  const binary = await findMongod({ cacheDir: inject('cacheDir'), report, signal });
  const options = { binary, dbPath: await temporaryFolder() };
  let mongod = await startMongod(options);
  onTestFinished(() => mongod.stop());
  const { harness, build, askFor } = await startOver({ MONGODB_URI: mongod.url });
  await harness.startWorker();
  const version = await build();
  expect((await askFor(version)).status).toBe(200);

  mongod.kill();
  await mongod.exited;
  const refused = await askFor(version);
  expectFailure(refused, internalError);
  expect(refused.headers.get('retry-after')).toBe('10');

  mongod = await startMongod({ ...options, port: mongod.port });
  await waitFor('an export after MongoDB is back', async () => (await askFor(version)).status === 200);
});
