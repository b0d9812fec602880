import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { findJsonFault, findJsonLosses } from '../../shared/lessons/json-syntax.ts';

const faultOf = (text: string) => {
  const fault = findJsonFault(text);
  return fault && `${fault.line}:${fault.column} ${fault.message}`;
};

test('duplicate names, and numbers that a double cannot hold, are reported with their position', () => {
  const text = `{
  "a": [1e400, -0.0, 12345678901234567890, -9007199254740993, 1e-400],
  "b": {"x": 1, "\\u0078": 2, "y": {"x": 3}}, "a": 0
}`;
  const losses = findJsonLosses(text, 20).map(({ line, column, message }) => `${line}:${column} ${message}`);
  const number = (written: string, becomes: string) =>
    `the number "${written}" becomes ${becomes}; write it as a string to keep it`;
  const name = (written: string) => `the name "${written}" is repeated in its object; the last one counts`;
  expect(losses).toEqual([
    `2:9 ${number('1e400', 'null')}`,
    `2:16 ${number('-0.0', '0')}`,
    `2:22 ${number('12345678901234567890', '12345678901234567000')}`,
    `2:44 ${number('-9007199254740993', '-9007199254740992')}`,
    `2:63 ${number('1e-400', '0')}`,
    `3:17 ${name('x')}`,
    `3:46 ${name('a')}`,
  ]);
  expect(findJsonLosses(text, 2)).toHaveLength(2);
});

test('output of JSON.stringify and common number formats lose nothing', () => {
  fc.assert(
    fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
      expect(findJsonLosses(JSON.stringify(value), 1)).toEqual([]);
    }),
  );
  const kept =
    '[0, 0.0, 1.0, 1.10, 1E3, 1e23, 0.1, 0.10000000000000001, 9007199254740992, 10000000000000000000000, 0e9]';
  expect(findJsonLosses(kept, 1)).toEqual([]);
});

describe('locating a JSON syntax error', () => {
  test.each([
    ['', '1:1 the file ends too early'],
    ['{"a": 1', '1:8 the file ends too early'],
    ['{"a": 1,}', '1:9 expected a name in double quotes'],
    ['{a: 1}', '1:2 expected a value, or a name in double quotes'],
    ['{"a" 1}', "1:6 expected ':' after a name"],
    ['{"a": 1 "b": 2}', "1:9 expected ',' or the end of the object or array"],
    ['[\n  1,\n  x\n]', '3:3 expected a value, or a name in double quotes'],
    ['01', '1:2 expected nothing more after the end of the value'],
    ['{} {}', '1:4 expected nothing more after the end of the value'],
    ['["a', '1:2 this string is not closed in its line'],
    ['["a\nb"]', '1:2 this string is not closed in its line'],
    ['["a\tb"]', '1:2 control characters in this string must be escaped'],
    ['["a\\x"]', '1:2 unknown escape in this string'],
    ['// note\n{}', '1:1 comments are not allowed'],
  ])('%j', (text, fault) => {
    expect(faultOf(text)).toBe(fault);
    expect(() => JSON.parse(text) as unknown).toThrow(SyntaxError);
  });

  test('finds none in valid JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 8 }), fc.nat(3), (value, indent) => {
        expect(faultOf(JSON.stringify(value, null, indent))).toBeUndefined();
      }),
    );
  });

  test('agrees with JSON.parse on any damaged JSON', () => {
    const damaged = fc
      .tuple(
        fc.json({ maxDepth: 4 }),
        fc.nat(),
        fc.nat(3),
        fc.constantFrom('', ',', ']', '}', '"', '\\', '1', ' ', 'e', '-'),
      )
      .map(([text, at, removed, added]) => {
        const start = at % (text.length + 1);
        return text.slice(0, start) + added + text.slice(start + removed);
      });
    fc.assert(
      fc.property(
        fc.oneof(damaged, fc.string({ unit: fc.constantFrom(...'{}[]:,"\\u0e1.-+tfn ') })),
        (text) => {
          let parses = true;
          try {
            JSON.parse(text);
          } catch {
            parses = false;
          }
          expect(findJsonFault(text) === undefined).toBe(parses);
        },
      ),
      { numRuns: 300 },
    );
  });

  test('accepts 200 levels and reports the position of the 201st', () => {
    expect(faultOf('['.repeat(200) + ']'.repeat(200))).toBeUndefined();
    expect(faultOf('['.repeat(201) + ']'.repeat(201))).toBe('1:201 nested deeper than 200 levels');
    expect(faultOf('{"a":'.repeat(1_000_000))).toBe('1:1001 nested deeper than 200 levels');
  });

  test.each([
    ['a string', () => `"${'a'.repeat(3_000_000)}"`],
    ['escapes', () => `"${'\\n'.repeat(500_000)}"`],
    ['digits', () => '1'.repeat(1_000_000)],
    ['space', () => `${' '.repeat(1_000_000)}1`],
    ['elements', () => `[${'1,'.repeat(500_000)}1]`],
  ])('scans long JSON once: a million characters of %s', (_what, text) => {
    expect(faultOf(text())).toBeUndefined();
  });
});
