import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startHarness } from '../support/harness.ts';
import type { Harness } from '../support/harness.ts';
import { ask, namesOf, openTurns } from './turns.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.close());

test.each([1, 2, 5])(
  "an organization with 500 waiting exports delays another's single export only by the running builds, on %i slots",
  async (slots) => {
    const turns = openTurns(harness);
    await ask(turns, ...namesOf('a', 500));
    for (let slot = 0; slot < slots; slot += 1) expect(await turns.start()).toBe(`a${slot + 1}`);

    await ask(turns, 'b1');
    expect(await turns.start()).toBe('b1');
    expect(await turns.start()).toBe(`a${slots + 1}`);
  },
);

test('organizations with many waiting exports alternate, and each keeps its own order', async () => {
  const turns = openTurns(harness);
  await ask(turns, ...namesOf('a', 4), ...namesOf('b', 2), ...namesOf('c', 3));
  expect(await turns.startAll()).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'c2', 'a3', 'c3', 'a4']);
});

test('an organization that has not exported for long comes next once, without further priority', async () => {
  const turns = openTurns(harness);
  await ask(turns, ...namesOf('a', 50));
  for (let start = 0; start < 40; start += 1) await turns.start();
  await ask(turns, ...namesOf('b', 4));
  expect(await turns.startAll()).toEqual([
    ...['b1', 'a41', 'b2', 'a42', 'b3', 'a43', 'b4', 'a44'],
    ...namesOf('a', 50).slice(44),
  ]);
});

test('concurrent requests for one archive count once in fair scheduling', async () => {
  const turns = openTurns(harness);
  await Promise.all(Array.from({ length: 30 }, () => ask(turns, 'a1')));
  await ask(turns, 'a2', 'b1', 'b2');
  expect(await turns.startAll()).toEqual(['a1', 'b1', 'a2', 'b2']);
});

test('while an export waits, no other organization gets more than one build more than its own, in any order of events', async () => {
  const steps = fc.array(fc.constantFrom('start', 'a', 'a', 'b', 'c'), { minLength: 20, maxLength: 60 });
  await fc.assert(
    fc.asyncProperty(steps, async (sequence) => {
      const turns = openTurns(harness);
      const asked = { a: 0, b: 0, c: 0 };
      const waiting: { name: string; own: number; others: Map<string, number> }[] = [];
      const started = (name: string | null) => {
        const own = name?.at(0) ?? '';
        const index = waiting.findIndex((one) => one.name === name);
        const [job] = index < 0 ? [] : waiting.splice(index, 1);
        for (const count of job?.others.values() ?? [])
          expect(count).toBeLessThanOrEqual((job?.own ?? 0) + 1);
        for (const other of waiting) {
          if (!other.name.startsWith(own)) other.others.set(own, (other.others.get(own) ?? 0) + 1);
        }
      };
      for (const step of sequence) {
        if (step === 'start') {
          started(await turns.start());
          continue;
        }
        const organization = step;
        const name = `${organization}${(asked[organization] += 1)}`;
        const own = 1 + waiting.filter((one) => one.name.startsWith(organization)).length;
        waiting.push({ name, own, others: new Map() });
        await ask(turns, name);
      }
      for (const name of await turns.startAll()) started(name);
      expect(waiting).toEqual([]);
    }),
    { numRuns: 15 },
  );
});
