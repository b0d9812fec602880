import { expect, onTestFinished, test, vi } from 'vitest';
import { enqueueExport } from '../../shared/exports/enqueue.ts';
import { createLogger } from '../../shared/platform/log.ts';
import { startWatchdog } from '../../worker/maintenance/watchdog.ts';
import { viewQueue } from '../exports/open-queue.ts';
import { useHarness } from '../support/use.ts';
import { waitFor } from '../support/wait-for.ts';
import { longTimeoutMs } from './fleet.ts';
import { jobNamed } from './scheduling.ts';

const harness = useHarness();

/** Watches a worker that starts nothing while a job waits. */
async function watch({ redisUrl = harness.servers.redisUrl, free = 1 } = {}) {
  await enqueueExport(viewQueue(harness).jobs, jobNamed('a1'));
  const polls = vi.fn(() => 0);
  const onStuck = vi.fn();
  const watchdog = startWatchdog(
    { redisUrl, config: harness.config, freeSlots: () => free, starts: polls },
    { seconds: 0.06, log: createLogger(harness.config, 'test'), onStuck },
  );
  onTestFinished(() => watchdog.stop());
  return { watchdog, onStuck, polls: () => polls.mock.calls.length };
}

test.each([
  { what: 'Redis does not respond', options: { redisUrl: 'redis://127.0.0.1:1' } },
  { what: 'all its slots are taken', options: { free: 0 } },
])('the watchdog keeps a worker running when jobs wait and $what', async ({ options }) => {
  const { watchdog, onStuck, polls } = await watch(options);
  await waitFor('many polls', () => polls() > 60, longTimeoutMs);
  expect(onStuck).not.toHaveBeenCalled();
  expect(watchdog.stuck()).toBe(false);
});

test('a worker that starts nothing while jobs wait is reported as stuck once', async () => {
  const { watchdog, onStuck, polls } = await watch();
  await waitFor('the alarm', () => watchdog.stuck(), longTimeoutMs);
  const before = polls();
  await waitFor('more polls', () => polls() > before + 10, longTimeoutMs);
  expect(onStuck).toHaveBeenCalledOnce();
});
