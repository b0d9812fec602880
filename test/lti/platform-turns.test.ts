import { expect, test } from 'vitest';
import { PlatformTurns } from '../../worker/scores/platform-turns.ts';

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
  expect(turns.blocked()).toEqual(['one']);
  expect(turns.start('other')).toBe(true);
  turns.end('one', null);
  expect(turns.blocked()).toEqual([]);
  expect(takeAll(turns, 'one')).toBe(1);
});

test('a platform in trouble is left alone for longer and longer, up to a minute, and then asked by one', () => {
  const { turns, pass } = turnsWithClock();
  expect(turns.start('one')).toBe(true);
  for (const seconds of [2, 4, 8, 16, 32, 60, 60]) {
    turns.end('one', 0);
    pass(seconds * 1000 - 1);
    expect(turns.start('one')).toBe(false);
    expect(turns.blocked()).toEqual(['one']);
    pass(1);
    expect(takeAll(turns, 'one')).toBe(1);
  }
  turns.end('one', null);
  expect(takeAll(turns, 'one')).toBe(4);
});

test('a platform that asks to be left alone for a while is, up to a minute', () => {
  const { turns, pass } = turnsWithClock();
  turns.start('one');
  turns.end('one', 30_000);
  pass(29_999);
  expect(turns.start('one')).toBe(false);
  pass(1);
  expect(turns.start('one')).toBe(true);
  turns.end('one', 3600_000);
  pass(60_000);
  expect(turns.start('one')).toBe(true);
});
