import { expect, test } from 'vitest';
import { TargetLimiter } from '../../worker/deliveries/target-limiter.ts';

/** Scheduling with a clock that only the test advances. */
function limiterWithClock() {
  let now = 0;
  const limiter = new TargetLimiter(() => now);
  return { limiter, pass: (milliseconds: number) => (now += milliseconds) };
}

const acquireAll = (limiter: TargetLimiter, target: string): number => {
  let taken = 0;
  while (limiter.acquire(target)) taken += 1;
  return taken;
};

/** Makes a platform known to work. */
function succeedOnce(limiter: TargetLimiter, target: string): void {
  limiter.acquire(target);
  limiter.release(target, 'healthy');
}

test('a platform gets one request, and after a success at most four at once, without delaying other platforms', () => {
  const { limiter } = limiterWithClock();
  expect(acquireAll(limiter, 'one')).toBe(1);
  limiter.release('one', 'healthy');
  expect(acquireAll(limiter, 'one')).toBe(4);
  expect(limiter.acquire('other')).toBe(true);
  limiter.release('one', 'healthy');
  expect(acquireAll(limiter, 'one')).toBe(1);
});

test('a failing platform backs off exponentially, up to a minute, and then gets one probe', () => {
  const { limiter, pass } = limiterWithClock();
  expect(limiter.acquire('one')).toBe(true);
  for (const seconds of [2, 4, 8, 16, 32, 60, 60]) {
    limiter.release('one', 'failing');
    pass(seconds * 1000 - 1);
    expect(limiter.acquire('one')).toBe(false);
    pass(1);
    expect(acquireAll(limiter, 'one')).toBe(1);
  }
  limiter.release('one', 'healthy');
  expect(acquireAll(limiter, 'one')).toBe(4);
});

test('Retry-After delays all scores of a platform, up to an hour', () => {
  const { limiter, pass } = limiterWithClock();
  for (const [asked, seconds] of [
    [600_000, 600],
    [24 * 3600_000, 3600],
  ] as const) {
    expect(limiter.acquire('one')).toBe(true);
    limiter.release('one', 'failing', asked);
    pass(seconds * 1000 - 1);
    expect(limiter.acquire('one')).toBe(false);
    pass(1);
  }
  expect(limiter.acquire('one')).toBe(true);
});

test('concurrent failures count as one, and the longest requested delay counts', () => {
  const { limiter, pass } = limiterWithClock();
  succeedOnce(limiter, 'one');
  expect(acquireAll(limiter, 'one')).toBe(4);
  limiter.release('one', 'failing');
  limiter.release('one', 'failing', 30_000);
  limiter.release('one', 'failing', 10_000);
  pass(29_999);
  expect(limiter.acquire('one')).toBe(false);
  pass(1);
  limiter.release('one', 'failing');
  pass(4_000);
  expect(limiter.acquire('one')).toBe(true);
});

const ends = ['healthy', 'unknown'] as const;
test.each(ends)('an attempt from before a backoff that ends %s does not end the backoff', (state) => {
  const { limiter, pass } = limiterWithClock();
  succeedOnce(limiter, 'one');
  expect(acquireAll(limiter, 'one')).toBe(4);
  limiter.release('one', 'failing', 30_000);
  for (let ended = 1; ended < 4; ended += 1) limiter.release('one', state);
  pass(29_999);
  expect(limiter.acquire('one')).toBe(false);
  pass(1);
  expect(acquireAll(limiter, 'one')).toBe(1);
});

test('an attempt that sent no request does not reset the backoff', () => {
  const { limiter, pass } = limiterWithClock();
  limiter.acquire('one');
  limiter.release('one', 'failing');
  pass(2_000);
  expect(limiter.acquire('one')).toBe(true);
  limiter.release('one', 'unknown');
  expect(acquireAll(limiter, 'one')).toBe(1);
  limiter.release('one', 'failing');
  pass(3_999);
  expect(limiter.acquire('one')).toBe(false);
});
