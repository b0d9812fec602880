import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { exportJobOf } from '../../shared/exports/jobs.ts';
import { findVersion } from '../../shared/models/lesson-version.ts';
import { buildOrganization, buildPackage } from '../support/factories.ts';
import { startHarness } from '../support/harness.ts';
import type { Harness } from '../support/harness.ts';
import { viewQueue } from '../fleet/queue.ts';
import { lectern, lecternJson } from './command-line.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.close());

/** Imports a package and returns the export request for its version. */
async function importPackage(settings: Record<string, string>, ...options: string[]) {
  const { organization } = await buildOrganization(harness);
  const { path, lessonId, versionId } = await buildPackage();
  try {
    const command = ['lesson', 'import', path, '--org', organization.slug, ...options];
    await lecternJson({ ...harness.environment, ...settings }, ...command);
  } finally {
    await rm(path, { recursive: true });
  }
  return { lessonId, versionId };
}

async function stateOf(versionId: string): Promise<string> {
  const version = await findVersion(harness.db, versionId);
  if (version === null) throw new Error('The version is gone');
  return viewQueue(harness).queue.getJobState(exportJobOf(version).key);
}

test('with EXPORT_PREBUILD, import --publish and publish start an archive build', async () => {
  const prebuild = { EXPORT_PREBUILD: 'true' };
  const published = await importPackage(prebuild, '--publish');
  expect(await stateOf(published.versionId)).toBe('prioritized');

  const draft = await importPackage(prebuild);
  await lecternJson({ ...harness.environment, ...prebuild }, 'lesson', 'publish', draft.lessonId);
  expect(await stateOf(draft.versionId)).toBe('prioritized');
});

test('without it, archives are built only on request', async () => {
  const { versionId } = await importPackage({}, '--publish');
  expect(await stateOf(versionId)).toBe('unknown');
});

test('an unresponsive Redis does not prevent publishing', async () => {
  const draft = await importPackage({});
  const settings = { EXPORT_PREBUILD: 'true', REDIS_URL: 'redis://127.0.0.1:1' };
  const environment = { ...harness.environment, ...settings };
  const { code, stderr } = await lectern(environment, 'lesson', 'publish', draft.lessonId);
  expect(code).toBe(0);
  expect(stderr).toContain(
    'warning: the archive is not built ahead: Redis at redis://127.0.0.1:1 does not answer',
  );
});
