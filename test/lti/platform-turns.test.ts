import { expect, test } from 'vitest';
import { PlatformTurns } from '../../worker/deliveries/platform-turns.ts';

/** Turns by a clock that stands still until it is told to go on. */
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

test('a platform is asked four times at once, and others beside it', () => {
  const { turns } = turnsWithClock();
  expect(takeAll(turns, 'one')).toBe(4);
  expect(turns.start('other')).toBe(true);
  turns.end('one', 'well');
  expect(takeAll(turns, 'one')).toBe(1);
});

test('a platform in trouble is left alone for longer and longer, up to a minute, and then asked by one', () => {
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

test('a platform that asks to be left alone for a while is, for all its scores, up to an hour', () => {
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

test('several tries that meet the same trouble are one trouble, and the longest that any was asked for counts', () => {
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
  'a try that was under way before a pause and ends %s leaves the platform alone all the same',
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

test('a try that asked the platform nothing does not end its troubles', () => {
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
