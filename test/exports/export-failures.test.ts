import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { eventDefinitions } from '../../shared/events/event-types.ts';
import { exportJobOf } from '../../shared/exports/jobs.ts';
import { insertWebhook } from '../../shared/models/webhook.ts';
import { unpublish } from '../../shared/publishing/publishing.ts';
import { digestOf } from '../../shared/storage/digest.ts';
import { expectFailure, internalError, jsonOf, notFound } from '../support/answers.ts';
import { useStarted } from '../support/use.ts';
import { waitFor } from '../support/wait-for.ts';
import { useExportLab } from './lab.ts';
import { openQueue } from './open-queue.ts';
import { unknownBytes } from '../support/factories.ts';

const lab = useExportLab();
const queue = useStarted(
  () => openQueue(lab.harness),
  (opened) => opened.close(),
);

/** Returns the path of a file in the disk store whose path contains a text. */
async function pathOf(text: string): Promise<string> {
  const root = lab.harness.config.storeDir;
  return join(root, (await readdir(root, { recursive: true })).findLast((path) => path.includes(text)) ?? '');
}

test('an archive that is not ready in time gets 500, its job continues, and the next request gets the archive', async () => {
  const api = await lab.harness.startApi({ EXPORT_WAIT_SECONDS: '1' });
  const version = await lab.build();
  const tooEarly = await lab.get(version, { api });
  const late = 'The archive is not ready in time: no worker is running. The export stays in the queue.';
  expectFailure(tooEarly, { ...internalError, message: late });
  expect(tooEarly.headers.get('retry-after')).toBe('10');
  expect(await queue.state(version)).toBe('prioritized');

  onTestFinished(await lab.harness.startWorker());
  await waitFor('the end of the job', async () => (await queue.state(version)) === 'completed');
  expect((await lab.get(version, { api })).status).toBe(200);
});

test('a failed build gets 500 without another run until the backoff ends, then it is retried', async () => {
  onTestFinished(await lab.harness.startWorker());
  const bytes = unknownBytes(1000);
  const version = await lab.build(bytes);
  // The disk returns different bytes than were written.
  const path = await pathOf(digestOf(bytes).sha256);
  await writeFile(path, unknownBytes(1000));

  const settings = { url: 'https://receiver.invalid/', types: ['export.failed' as const], description: '' };
  const { organizationId, _id: versionId } = version;
  await insertWebhook(lab.harness.db, { _id: randomUUID(), organizationId, ...settings, secret: 'sealed' });
  const first = await lab.get(version);
  expectFailure(first, internalError);
  const event = await lab.harness.db.eventDeliveries.findOne({ type: 'export.failed' }).lean().orFail();
  const { data } = JSON.parse(event.body) as { data: object };
  expect(eventDefinitions['export.failed'].data.parse(data)).toMatchObject({
    ...{ versionId, profile: 'plain', error: expect.stringContaining('INTERNAL_ERROR') as string },
  });
  expect(first.headers.get('retry-after')).toBe('10');
  const failed = await queue.lastJob(version);
  expect(failed?.failedReason).toMatch(/^INTERNAL_ERROR: .* is damaged/);

  await writeFile(path, bytes);
  expectFailure(await lab.get(version), internalError);
  expect((await queue.lastJob(version))?.id).toBe(failed?.id);

  await queue.endBackoff(version);
  const repaired = await lab.get(version);
  expect(repaired.status).toBe(200);
  expect(repaired.body.includes(await readFile(path))).toBe(true);
});

test('clients of a store that cannot be read learn no paths or hosts', async () => {
  const version = await lab.build();
  const { key } = exportJobOf(version);
  // A file replaces this archive's folder, so the store cannot read it.
  const folder = join(lab.harness.config.storeDir, 'v1', 'archives', key.slice(1, 3));
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, key), '');
  const answer = await lab.get(version);
  expectFailure(answer, internalError);
  expect(answer.headers.get('retry-after')).toBe('10');
});

test('a version unpublished while its build is queued gets 404', async () => {
  const version = await lab.build();
  const asking = lab.get(version);
  await waitFor('the job', async () => (await queue.state(version)) === 'prioritized');
  await unpublish(lab.harness.db, version.lessonId);
  onTestFinished(await lab.harness.startWorker());
  const answer = await asking;
  expect(answer.status).toBe(404);
  expect(jsonOf(answer)).toMatchObject({ code: notFound.code, message: notFound.message });
});
