import { expect, test } from 'vitest';
import { batched } from '../../shared/models/batched.ts';
import type { Database } from '../../shared/models/database.ts';

const db = {} as Database;
const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

/** Returns a lookup over mutable values, and the keys of each query. */
function lookupOf(values: Record<string, string>) {
  const queries: string[][] = [];
  const find = batched((_db, keys: readonly string[]) => {
    queries.push([...keys]);
    const found = { ...values };
    return Promise.resolve((key: string) => found[key]);
  });
  return { find, queries };
}

test('lookups of one turn share one query, and each gets its own result', async () => {
  const { find, queries } = lookupOf({ a: 'A', b: 'B' });
  expect(await Promise.all(['a', 'b', 'c', 'a'].map((key) => find(db, key)))).toEqual([
    'A',
    'B',
    undefined,
    'A',
  ]);
  expect(queries).toEqual([['a', 'b', 'c', 'a']]);
});

test('a result is never older than its lookup: lookups after the query was sent need another one', async () => {
  const values = { a: 'good' };
  const { find, queries } = lookupOf(values);
  const before = find(db, 'a');
  await nextTurn();
  values.a = 'revoked';
  expect([await before, await find(db, 'a')]).toEqual(['good', 'revoked']);
  expect(queries).toHaveLength(2);
});

test('a query has a bounded number of keys', async () => {
  const { find, queries } = lookupOf({});
  await Promise.all(Array.from({ length: 600 }, (_, index) => find(db, `${index}`)));
  expect(queries.map((keys) => keys.length)).toEqual([256, 256, 88]);
});

test('a failing query fails exactly the lookups that share it', async () => {
  let fails = true;
  const find = batched<Database, string, string>(() =>
    fails ? Promise.reject(new Error('away')) : Promise.resolve((key) => key),
  );
  const both = await Promise.allSettled([find(db, 'a'), find(db, 'b')]);
  expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  fails = false;
  expect(await find(db, 'a')).toBe('a');
});
