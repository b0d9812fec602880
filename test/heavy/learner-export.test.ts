import { randomBytes, randomUUID } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import { insertDeliveries } from '../../shared/models/event-delivery.ts';
import { storeLearners } from '../learners/build-learners.ts';
import { startApiProcess } from '../support/api-process.ts';
import { buildOrganization } from '../support/factories.ts';
import { useHarness } from '../support/use.ts';
import { peakMegabytes, printFigure } from './measure.ts';

const harness = useHarness();

const stateBytes = 1024 ** 2;
const bodyBytes = 2_000;
const maxMegabytes = 300;
/** Garbage that V8 has not collected yet. */
const maxGrowthMegabytes = 60;

/** Random, so that compression leaves most of it. */
const text = (bytes: number) => JSON.stringify({ text: randomBytes((bytes * 3) / 4).toString('base64') });

/** Stores records of a learner; returns the id. */
async function storeRecords(
  organizationId: string,
  { lessons, deliveries }: { lessons: number; deliveries: number },
): Promise<string> {
  const learnerId = `learner-${randomUUID()}`;
  for (let lesson = 0; lesson < lessons; lesson += 1) {
    const version = { organizationId, lessonId: randomUUID(), _id: randomUUID() };
    await storeLearners(harness.db, version, [{ learnerId, progressData: text(stateBytes) }]);
  }
  const event = { type: 'ping', lessonId: null, learnerId, platformId: null, body: text(bodyBytes) };
  for (let made = 0; made < deliveries; made += 1000) {
    const rows = Array.from({ length: 1000 }, () => ({
      ...{ _id: `evt_${randomUUID()}`, kind: 'webhook' as const, organizationId, targetId: 'webhook' },
      ...{ ...event, eventAt: new Date() },
    }));
    await insertDeliveries(harness.db, rows);
  }
  return learnerId;
}

test('the memory of the API for an export grows far less than the records of the learner', async () => {
  const { organization, headers } = await buildOrganization(harness);
  const few = await storeRecords(organization._id, { lessons: 25, deliveries: 4_000 });
  const many = await storeRecords(organization._id, { lessons: 100, deliveries: 16_000 });
  const api = await startApiProcess(harness);
  onTestFinished(async () => void (await api.end()));
  const before = await peakMegabytes(api.pid);
  /** Exports a learner; returns the size of the ZIP, the time, and the peak memory so far. */
  const exported = async (learnerId: string) => {
    const started = Date.now();
    const response = await fetch(`${api.url}/api/learners/${learnerId}/export`, { headers });
    expect(response.status).toBe(200);
    let bytes = 0;
    for await (const chunk of response.body ?? []) bytes += (chunk as Uint8Array).length;
    return { bytes, seconds: (Date.now() - started) / 1000, peak: await peakMegabytes(api.pid) };
  };
  const [small, large] = [await exported(few), await exported(many)];
  printFigure('learner export', {
    'API before MB': before,
    ...{ 'ZIP MB': small.bytes / 1e6, seconds: small.seconds, 'API peak MB': small.peak },
    ...{ 'larger ZIP MB': large.bytes / 1e6, 'its seconds': large.seconds, 'its peak MB': large.peak },
  });
  expect(large.bytes / small.bytes).toBeGreaterThan(3);
  expect(large.peak).toBeLessThan(maxMegabytes);
  expect(large.peak - small.peak).toBeLessThan(maxGrowthMegabytes);
});
