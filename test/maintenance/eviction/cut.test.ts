import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cutFor } from '../../../worker/maintenance/eviction/cut.ts';
import { fairCuts } from '../../../worker/maintenance/eviction/fair-cuts.ts';

const used = fc
  .array(fc.tuple(fc.integer({ min: 0, max: 50 }), fc.integer({ min: 1, max: 100 })), { maxLength: 30 })
  .map((minutes) => new Map(minutes));
const goal = fc.record({ oldest: fc.integer({ min: 0, max: 50 }), bytes: fc.integer({ min: 0, max: 2000 }) });

const sum = (numbers: Iterable<number>) => [...numbers].reduce((total, one) => total + one, 0);

test('a cut takes all old files, then the least recently used ones, and no more bytes than needed', () => {
  fc.assert(
    fc.property(used, goal, (minutes, { oldest, bytes: wanted }) => {
      const cut = cutFor(minutes, { oldest, bytes: wanted });
      const taken = ([minute, bytes]: [number, number]) => {
        if (cut === null || minute > cut.minute) return 0;
        return minute < cut.minute ? bytes : cut.bytes;
      };
      const total = sum([...minutes].map(taken));
      const old = [...minutes].filter(([minute]) => minute < oldest);
      for (const row of old) expect(taken(row)).toBe(row[1]);
      expect(total).toBeGreaterThanOrEqual(Math.min(wanted, sum(minutes.values())));
      expect(total).toBeLessThanOrEqual(Math.max(wanted, sum(old.map(([, bytes]) => bytes))));

      let isWhole = true;
      for (const row of [...minutes].filter(([minute]) => minute >= oldest).sort(([a], [b]) => a - b)) {
        if (!isWhole) expect(taken(row)).toBe(0);
        isWhole &&= taken(row) === row[1];
      }
    }),
  );
});

test('files that must stay never reduce the share of another organization', () => {
  const group = (owner: string, total: number, evictable: number) => ({
    owners: [owner],
    total,
    used: new Map(evictable === 0 ? [] : [[10, evictable]]),
    pinned: new Map<number, number>(),
  });
  const groups = new Map([
    ['pinned', group('pinned', 90, 0)],
    ['small', group('small', 4, 4)],
    ['large', group('large', 40, 40)],
  ]);
  // With 94 bytes to free, an equal share of the remaining 40 is 13, which the small one does not reach.
  for (const bytes of [20, 94]) expect([...fairCuts(groups, { oldest: 1, bytes }).keys()]).toEqual(['large']);
});
