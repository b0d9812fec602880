import { expect, test } from 'vitest';
import { PlatformTurns } from '../../worker/deliveries/platform-turns.ts';

/** Scheduling with a clock that only the test advances. */
function turnsWithClock() {
  let now = 0;
  const turns = new PlatformTurns(() => now);
  return { turns, pass: (milliseconds: number) => (now += milliseconds) };
}

const takeAll = (turns: PlatformTurns, platformId: string): number => {
  let taken = 0;
  while (turns.start(platformId)) taken += 1;
  return taken;
};

test('a platform gets at most four concurrent requests, without delaying other platforms', () => {
  const { turns } = turnsWithClock();
  expect(takeAll(turns, 'one')).toBe(4);
  expect(turns.start('other')).toBe(true);
  turns.end('one', 'well');
  expect(takeAll(turns, 'one')).toBe(1);
});

test('a failing platform backs off exponentially, up to a minute, and then gets one probe', () => {
  const { turns, pass } = turnsWithClock();
  expect(turns.start('one')).toBe(true);
  for (const seconds of [2, 4, 8, 16, 32, 60, 60]) {
    turns.end('one', 'trouble');
    pass(seconds * 1000 - 1);
    expect(turns.start('one')).toBe(false);
    pass(1);
    expect(takeAll(turns, 'one')).toBe(1);
  }
  turns.end('one', 'well');
  expect(takeAll(turns, 'one')).toBe(4);
});

test('Retry-After delays all scores of a platform, up to an hour', () => {
  const { turns, pass } = turnsWithClock();
  for (const [asked, seconds] of [
    [600_000, 600],
    [24 * 3600_000, 3600],
  ] as const) {
    expect(turns.start('one')).toBe(true);
    turns.end('one', 'trouble', asked);
    pass(seconds * 1000 - 1);
    expect(turns.start('one')).toBe(false);
    pass(1);
  }
  expect(turns.start('one')).toBe(true);
});

test('concurrent failures count as one, and the longest requested delay counts', () => {
  const { turns, pass } = turnsWithClock();
  expect(takeAll(turns, 'one')).toBe(4);
  turns.end('one', 'trouble');
  turns.end('one', 'trouble', 30_000);
  turns.end('one', 'trouble', 10_000);
  pass(29_999);
  expect(turns.start('one')).toBe(false);
  pass(1);
  turns.end('one', 'trouble');
  pass(4_000);
  expect(turns.start('one')).toBe(true);
});

test.each(['well', 'unknown'] as const)(
  'an attempt in progress before a backoff that ends %s does not end the backoff',
  (state) => {
    const { turns, pass } = turnsWithClock();
    expect(takeAll(turns, 'one')).toBe(4);
    turns.end('one', 'trouble', 30_000);
    for (let ended = 1; ended < 4; ended += 1) turns.end('one', state);
    pass(29_999);
    expect(turns.start('one')).toBe(false);
    pass(1);
    expect(takeAll(turns, 'one')).toBe(1);
  },
);

test('an attempt that sent no request does not reset the backoff', () => {
  const { turns, pass } = turnsWithClock();
  turns.start('one');
  turns.end('one', 'trouble');
  pass(2_000);
  expect(turns.start('one')).toBe(true);
  turns.end('one', 'unknown');
  expect(takeAll(turns, 'one')).toBe(1);
  turns.end('one', 'trouble');
  pass(3_999);
  expect(turns.start('one')).toBe(false);
});
