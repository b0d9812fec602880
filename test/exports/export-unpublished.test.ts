import { afterAll, beforeAll, expect, test } from 'vitest';
import { unpublish } from '../../shared/publishing/publishing.ts';
import { buildOrganization, buildPackage, buildVersion, exportPath } from '../support/factories.ts';
import { startHarness } from '../support/harness.ts';
import type { Harness } from '../support/harness.ts';
import { waitFor } from '../support/wait-for.ts';
import { openQueue } from './open-queue.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.close());

test('a version unpublished while its build is queued gets 404', async () => {
  const address = await harness.startApi();
  const { organization, headers } = await buildOrganization(harness);
  const version = await buildVersion(harness, organization, (await buildPackage()).path);
  const queue = await openQueue(harness);
  const answer = fetch(`${address}${exportPath(version)}`, { headers });
  await waitFor('the job', async () => (await queue.jobs.getPrioritizedCount()) === 1);
  await queue.close();
  await unpublish(harness.db, version.lessonId);
  await harness.startWorker();

  const response = await answer;
  expect(response.status).toBe(404);
  expect(await response.json()).toMatchObject({ code: 'NOT_FOUND', message: 'Published version not found' });
});
