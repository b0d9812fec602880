import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compactJson, prettyJson } from '../../shared/lessons/json-pieces.ts';

test('the joined pieces equal JSON.stringify for every value', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect([...prettyJson(value)].join('')).toBe(`${JSON.stringify(value, null, 2)}\n`);
      expect([...compactJson(value)].join('')).toBe(JSON.stringify(value));
    }),
  );
});

test('objects omit undefined values, flat or nested', () => {
  const value = { a: undefined, b: { c: undefined, d: [{}], e: 1 }, f: { g: undefined } };
  expect([...prettyJson(value)].join('')).toBe(`${JSON.stringify(value, null, 2)}\n`);
  expect([...compactJson(value)].join('')).toBe(JSON.stringify(value));
});
