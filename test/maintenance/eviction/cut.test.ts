import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cutFor } from '../../../worker/maintenance/eviction/cut.ts';
import { fairCuts } from '../../../worker/maintenance/eviction/fair-cuts.ts';

const used = fc
  .array(fc.tuple(fc.integer({ min: 0, max: 50 }), fc.integer({ min: 1, max: 100 })), { maxLength: 30 })
  .map((minutes) => new Map(minutes));
const goal = fc.record({ oldest: fc.integer({ min: 0, max: 50 }), bytes: fc.integer({ min: 0, max: 2000 }) });

/** How many bytes of each minute a cut takes. */
function takenBy(bytesByMinute: Map<number, number>, cut: ReturnType<typeof cutFor>): Map<number, number> {
  const taken = [...bytesByMinute].map(([minute, bytes]): [number, number] => {
    if (cut === null || minute > cut.minute) return [minute, 0];
    return [minute, minute < cut.minute ? bytes : cut.bytes];
  });
  return new Map(taken);
}

const sum = (numbers: Iterable<number>) => [...numbers].reduce((total, one) => total + one, 0);

test('all that is too old goes', () => {
  fc.assert(
    fc.property(used, goal, (minutes, wanted) => {
      const taken = takenBy(minutes, cutFor(minutes, wanted));
      for (const [minute, bytes] of minutes) {
        if (minute < wanted.oldest) expect(taken.get(minute)).toBe(bytes);
      }
    }),
  );
});

test('as many bytes go as are wanted, or all there are', () => {
  fc.assert(
    fc.property(used, goal, (minutes, wanted) => {
      const taken = sum(takenBy(minutes, cutFor(minutes, wanted)).values());
      expect(taken).toBeGreaterThanOrEqual(Math.min(wanted.bytes, sum(minutes.values())));
    }),
  );
});

test('nothing goes while something stays that was used earlier, and no more than is wanted', () => {
  fc.assert(
    fc.property(used, goal, (minutes, wanted) => {
      const taken = takenBy(minutes, cutFor(minutes, wanted));
      const later = [...minutes].filter(([minute]) => minute >= wanted.oldest).sort(([a], [b]) => a - b);
      let whole = true;
      for (const [minute, bytes] of later) {
        if (!whole) expect(taken.get(minute)).toBe(0);
        whole &&= taken.get(minute) === bytes;
      }
      const old = sum([...minutes].filter(([minute]) => minute < wanted.oldest).map(([, bytes]) => bytes));
      expect(sum(taken.values())).toBeLessThanOrEqual(Math.max(wanted.bytes, old));
    }),
  );
});

test('files that may not go never cost another organization its share', () => {
  const group = (owner: string, total: number, mayGo: number) => ({
    owners: [owner],
    total,
    used: new Map(mayGo === 0 ? [] : [[10, mayGo]]),
    pinned: new Map<number, number>(),
  });
  const groups = new Map([
    ['pinned', group('pinned', 90, 0)],
    ['small', group('small', 4, 4)],
    ['large', group('large', 40, 40)],
  ]);
  const cuts = fairCuts(groups, { oldest: 1, bytes: 20 });
  expect([...cuts.keys()]).toEqual(['large']);
  // An equal share of the 40 bytes that would stay is 13, which the small one does not reach.
  const more = fairCuts(groups, { oldest: 1, bytes: 94 });
  expect([...more.keys()]).toEqual(['large']);
});
