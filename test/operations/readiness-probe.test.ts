import { expect, onTestFinished, test, vi } from 'vitest';
import { parseConfig } from '../../shared/platform/config.ts';
import { createLogger } from '../../shared/platform/log.ts';
import { createReadinessProbe } from '../../shared/operations/checks.ts';
import type { Check, Checks } from '../../shared/operations/checks.ts';

const log = createLogger(parseConfig({ LOG_LEVEL: 'silent' }), 'test');

function probeOf(check: Check) {
  const stopping = new AbortController();
  let runs = 0;
  const run = () => {
    runs += 1;
    return check.run();
  };
  const probe = createReadinessProbe({ redis: { ...check, run } }, stopping.signal, log);
  return { probe, stopping, runs: () => runs };
}

function useClock() {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
}

test('a result is cached for 3 seconds, a failure for one', async () => {
  useClock();
  let good = true;
  const { probe, runs } = probeOf({
    run: () => (good ? Promise.resolve() : Promise.reject(new Error('away'))),
  });
  await Promise.all([probe.read(), probe.read()]);
  vi.advanceTimersByTime(2_900);
  expect((await probe.read()).status).toBe('ok');
  expect(runs()).toBe(1);
  good = false;
  vi.advanceTimersByTime(200);
  expect(await probe.read()).toEqual({ status: 'degraded', checks: { redis: 'failed' } });
  good = true;
  vi.advanceTimersByTime(1_100);
  expect((await probe.read()).status).toBe('ok');
});

test('during shutdown the process is not ready, also for callers that wait for a check', async () => {
  let end: () => void = () => undefined;
  const { probe, stopping } = probeOf({ run: () => new Promise<void>((resolve) => (end = resolve)) });
  const waiting = probe.read();
  stopping.abort();
  end();
  const ending = { status: 'unavailable', checks: { shutdown: 'failed' } };
  expect(await probe.read()).toEqual(ending);
  expect(await waiting).toEqual(ending);
});

test('a hanging check fails after 5 seconds, and does not start again while it hangs', async () => {
  useClock();
  const { probe, runs } = probeOf({ run: () => new Promise(() => undefined) });
  for (let count = 0; count < 5; count += 1) {
    const reading = probe.read();
    await vi.advanceTimersByTimeAsync(7_000);
    expect((await reading).status).toBe('degraded');
  }
  expect(runs()).toBe(1);
  await vi.advanceTimersByTimeAsync(60_000);
  const reading = probe.read();
  await vi.advanceTimersByTimeAsync(7_000);
  expect((await reading).status).toBe('degraded');
  expect(runs()).toBe(2);
});

test('a process without a required dependency is unavailable, without another one degraded', async () => {
  const fails = () => Promise.reject(new Error('away'));
  const works = () => Promise.resolve();
  const statusOf = async (checks: Checks) =>
    (await createReadinessProbe(checks, new AbortController().signal, log).read()).status;
  expect(await statusOf({ mongodb: { required: true, run: works }, redis: { run: fails } })).toBe('degraded');
  expect(await statusOf({ mongodb: { required: true, run: fails }, redis: { run: works } })).toBe(
    'unavailable',
  );
});
