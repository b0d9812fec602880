import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { insertDeliveries } from '../../shared/models/event-delivery.ts';
import { storeLearners } from '../learners/build-learners.ts';
import { startApiProcess } from '../support/api-process.ts';
import { buildOrganization } from '../support/factories.ts';
import { useHarness } from '../support/use.ts';
import { peakMegabytes, printFigure } from './measure.ts';

const harness = useHarness();

const stateBytes = 1024 ** 2;
const bodyBytes = 2_000;
const pauseEveryBytes = 10_000_000;
const maxMegabytes = 250;
/** Garbage that V8 has not collected yet; the records grow by 75 MB and 12,000 deliveries. */
const maxGrowthMegabytes = 40;
const maxSmallHeapMegabytes = 215;

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

interface Measured {
  bytes: number;
  peak: number;
}

/**
 * Exports the data of learners from a new API process, one after the other. Returns the size of each ZIP, and the peak
 * memory of the process after it, in MB.
 *
 * @param nodeOptions such as a limit for V8's heap.
 * @param pauseMs how long the client stops reading after every 10 MB.
 */
async function measureExports(
  learnerIds: readonly string[],
  headers: Record<string, string>,
  { nodeOptions = '', pauseMs = 0 } = {},
): Promise<Measured[]> {
  const api = await startApiProcess(harness, { NODE_OPTIONS: nodeOptions });
  onTestFinished(async () => void (await api.end()));
  const before = await peakMegabytes(api.pid);
  const measured: Measured[] = [];
  for (const learnerId of learnerIds) {
    const started = Date.now();
    const response = await fetch(`${api.url}/api/learners/${learnerId}/export`, { headers });
    expect(response.status).toBe(200);
    let bytes = 0;
    let nextPause = pauseEveryBytes;
    for await (const chunk of response.body ?? []) {
      bytes += (chunk as Uint8Array).length;
      if (bytes < nextPause) continue;
      nextPause += pauseEveryBytes;
      await delay(pauseMs);
    }
    const peak = await peakMegabytes(api.pid);
    measured.push({ bytes, peak });
    const seconds = (Date.now() - started) / 1000;
    printFigure('learner export', {
      ...{ options: nodeOptions, 'pauses ms': pauseMs, 'API before MB': before },
      ...{ 'ZIP MB': bytes / 1e6, seconds, 'API peak MB': peak },
    });
  }
  return measured;
}

describe('the memory of the API for an export', () => {
  let headers: { authorization: string };
  let few: string;
  let many: string;
  beforeAll(async () => {
    const built = await buildOrganization(harness);
    ({ headers } = built);
    few = await storeRecords(built.organization._id, { lessons: 25, deliveries: 4_000 });
    many = await storeRecords(built.organization._id, { lessons: 100, deliveries: 16_000 });
  });

  test('grows far less than the records of the learner', async () => {
    const [small, large] = (await measureExports([few, many], headers)) as [Measured, Measured];
    expect(large.bytes / small.bytes).toBeGreaterThan(3);
    expect(large.peak).toBeLessThan(maxMegabytes);
    expect(large.peak - small.peak).toBeLessThan(maxGrowthMegabytes);
  });

  // With a small heap, V8 keeps little garbage: what remains is what the export needs.
  test.each([
    { client: 'fast', pauseMs: 0 },
    { client: 'slow', pauseMs: 2_000 },
  ])('does not grow with the records, for a $client client', async ({ pauseMs }) => {
    const options = { nodeOptions: '--max-old-space-size=96', pauseMs };
    const [small, large] = (await measureExports([few, many], headers, options)) as [Measured, Measured];
    expect(large.peak).toBeLessThan(maxSmallHeapMegabytes);
    expect(large.peak - small.peak).toBeLessThan(maxGrowthMegabytes);
  });
});
