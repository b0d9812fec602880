import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import {
  arrayElements,
  arrayText,
  jsonFault,
  objectMembers,
  objectText,
} from '../../shared/platform/json-text.ts';

/** Any JSON value, printed with and without whitespace. */
const printed = <T>(value: fc.Arbitrary<T>) =>
  fc.tuple(value, fc.constantFrom(0, 1, '\t', 4)).map(([json, indent]) => ({
    json,
    text: JSON.stringify(json, null, indent),
  }));

const awkward = fc.string({
  unit: fc.constantFrom('"', '\\', '{', '}', '[', ']', ',', ':', '\n', 'é', '\ud800'),
});
const value = fc.oneof(
  fc.jsonValue({ maxDepth: 5 }),
  awkward,
  fc.array(awkward),
  fc.dictionary(awkward, awkward),
);

const repeated = (text: string, count: number) => Array.from({ length: count }, () => text).join();

test.each<[string, string, ReturnType<typeof jsonFault>]>([
  ['200 levels', '['.repeat(200) + ']'.repeat(200), undefined],
  ['201 levels', '['.repeat(201) + ']'.repeat(201), 'syntax'],
  ['a million brackets', '['.repeat(1_000_000), 'syntax'],
  ['59,999 objects in an array', `[${repeated('{}', 59_999)}]`, undefined],
  ['60,000 objects in an array', `[${repeated('{}', 60_000)}]`, 'size'],
  ['60,000 members', `{${repeated('"a":1', 60_000)}}`, 'size'],
  ['100,001 numbers', `[${repeated('1', 100_001)}]`, undefined],
  ['100,002 numbers', `[${repeated('1', 100_002)}]`, 'size'],
  ['a number of 1,000 digits', `-${'1'.repeat(1_000)}`, undefined],
  ['a number of 1,001 digits', '1'.repeat(1_001), 'size'],
  ['a string of all that', JSON.stringify('[{,:1'.repeat(200_000)), undefined],
  ['a string that does not end', `"${'\\"'.repeat(500_000)}`, 'syntax'],
  ['nothing', '', 'syntax'],
])('%s: may a server parse it?', (_what, text, fault) => {
  expect(jsonFault(text, 200)).toBe(fault);
});

describe('the members of a JSON object', () => {
  test.each([
    ['none', ' { } ', []],
    ['in the order of the text, also names like numbers', '{"b":1,"2":2,"1":3}', ['b→1', '2→2', '1→3']],
    ['a repeated name with its last value', '{"a":1,"b":2,"a":3}', ['a→3', 'b→2']],
    ['__proto__ like any other', '{"__proto__":{},"toString":null}', ['__proto__→{}', 'toString→null']],
    [
      'numbers that JSON.parse would change',
      '{"a":1234567890123456789,"c":-0}',
      ['a→1234567890123456789', 'c→-0'],
    ],
    ['repeated names inside a value', '{"a":{"2":1,"1":2,"2":3}}', ['a→{"2":1,"1":2,"2":3}']],
  ])('%s', (_title, text, members) => {
    expect([...objectMembers(text)].map(([name, value]) => `${name}→${value}`)).toEqual(members);
  });

  test('have the values that JSON.parse reads, and together make the object again', () => {
    fc.assert(
      fc.property(printed(fc.dictionary(fc.oneof(fc.string(), awkward), value)), ({ text }) => {
        const members = objectMembers(text);
        const parsed = JSON.parse(text) as Record<string, unknown>;
        expect([...members.keys()].sort()).toEqual(Object.keys(parsed).sort());
        for (const [name, source] of members) expect(JSON.parse(source)).toEqual(parsed[name]);
        expect(JSON.parse(objectText(members))).toEqual(parsed);
      }),
    );
  });
});

describe('the elements of a JSON array', () => {
  test.each([
    ['none', ' [ ] ', []],
    ['numbers as they are written', '[1234567890123456789,1E+400]', ['1234567890123456789', '1E+400']],
  ])('%s', (_title, text, elements) => {
    expect(arrayElements(text)).toEqual(elements);
  });

  test('have the values that JSON.parse reads, and together make the array again', () => {
    fc.assert(
      fc.property(printed(fc.array(value)), ({ text }) => {
        const elements = arrayElements(text);
        expect(elements.map((element) => JSON.parse(element) as unknown)).toEqual(JSON.parse(text));
        expect(JSON.parse(arrayText(elements))).toEqual(JSON.parse(text));
      }),
    );
  });
});

test('joined parts split into the same parts', () => {
  const sources = fc.array(
    fc.tuple(
      fc.string(),
      printed(value).map(({ text }) => text),
    ),
  );
  fc.assert(
    fc.property(sources, (parts) => {
      const members = new Map(parts);
      expect(objectMembers(objectText(members))).toEqual(members);
      const elements = parts.map(([, source]) => source);
      expect(arrayElements(arrayText(elements))).toEqual(elements);
    }),
  );
});

test('deep nesting and long runs of backslashes in the largest body are split correctly', () => {
  const half = 512 * 1024;
  const deep = '['.repeat(half) + ']'.repeat(half);
  const slashes = `"${'\\\\'.repeat(half)}"`;
  const quotes = `"${'\\"'.repeat(half)}"`;
  expect(objectMembers(`{"a":${deep},"b":${slashes},"c":${quotes}}`)).toEqual(
    new Map([
      ['a', deep],
      ['b', slashes],
      ['c', quotes],
    ]),
  );
});

test('an array has no members, and an object no elements', () => {
  expect(() => objectMembers('[]')).toThrow(TypeError);
  expect(() => arrayElements('{}')).toThrow(TypeError);
});
