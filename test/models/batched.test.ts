import { expect, test } from 'vitest';
import { batched } from '../../shared/models/batched.ts';
import type { Database } from '../../shared/models/database.ts';

const db = {} as Database;
const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

/** A look-up over values that can be changed, with the keys of each query that was sent. */
function lookUpOf(values: Record<string, string>) {
  const queries: string[][] = [];
  const find = batched((_db, keys: readonly string[]) => {
    queries.push([...keys]);
    const found = { ...values };
    return Promise.resolve((key: string) => found[key]);
  });
  return { find, queries };
}

test('those who ask in one turn share one query, and each gets its own answer', async () => {
  const { find, queries } = lookUpOf({ a: 'A', b: 'B' });
  expect(await Promise.all(['a', 'b', 'c', 'a'].map((key) => find(db, key)))).toEqual([
    'A',
    'B',
    undefined,
    'A',
  ]);
  expect(queries).toEqual([['a', 'b', 'c', 'a']]);
});

test('an answer is never older than its question: who asks when a query is sent has one of its own', async () => {
  const values = { a: 'good' };
  const { find, queries } = lookUpOf(values);
  const before = find(db, 'a');
  await nextTurn();
  values.a = 'revoked';
  expect([await before, await find(db, 'a')]).toEqual(['good', 'revoked']);
  expect(queries).toHaveLength(2);
});

test('two databases never share a query', async () => {
  const { find, queries } = lookUpOf({ a: 'A' });
  await Promise.all([find(db, 'a'), find({}, 'a')]);
  expect(queries).toEqual([['a'], ['a']]);
});

test('a query has a bounded number of keys', async () => {
  const { find, queries } = lookUpOf({});
  await Promise.all(Array.from({ length: 600 }, (_, index) => find(db, `${index}`)));
  expect(queries.map((keys) => keys.length)).toEqual([256, 256, 88]);
});

test('a failing query fails exactly for the callers that share it', async () => {
  let fails = true;
  const find = batched<Database, string, string>(() =>
    fails ? Promise.reject(new Error('away')) : Promise.resolve((key) => key),
  );
  const both = await Promise.allSettled([find(db, 'a'), find(db, 'b')]);
  expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  fails = false;
  expect(await find(db, 'a')).toBe('a');
});
