import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { findJsonFault } from '../../shared/packages/json-syntax.ts';

const faultOf = (text: string) => {
  const fault = findJsonFault(text);
  return fault && `${fault.line}:${fault.column} ${fault.message}`;
};

describe('finding the fault of a JSON text', () => {
  test.each([
    ['', '1:1 the file ends too early'],
    ['  \n ', '2:2 the file ends too early'],
    ['{"a": 1', '1:8 the file ends too early'],
    ['{"a": 1,}', '1:9 expected a name in double quotes'],
    ['{a: 1}', '1:2 expected a name in double quotes'],
    ["{'a': 1}", '1:2 expected a name in double quotes'],
    ['{"a" 1}', "1:6 expected ':' after a name"],
    ['{"a": 1 "b": 2}', "1:9 expected ',' or '}'"],
    ['[1 2]', "1:4 expected ',' or ']'"],
    ['[1,]', '1:4 expected a value'],
    ['[\n  1,\n  x\n]', '3:3 expected a value'],
    ['[1}', "1:3 expected ',' or ']'"],
    ['{"a": undefined}', '1:7 expected a value'],
    ['01', '1:2 expected nothing more after the end of the value'],
    ['{} {}', '1:4 expected nothing more after the end of the value'],
    ['["a', '1:2 this string is not closed'],
    ['["a\nb"]', '1:4 line breaks and control characters in a string have to be escaped'],
    ['["a\\x"]', '1:4 unknown escape in a string'],
    ['["\\u12"]', '1:3 unknown escape in a string'],
    ['// note\n{}', '1:1 expected a value'],
  ])('%j', (text, fault) => {
    expect(faultOf(text)).toBe(fault);
    expect(() => JSON.parse(text) as unknown).toThrow(SyntaxError);
  });

  test('finds none in any JSON', () => {
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
      { numRuns: 3_000 },
    );
  });

  test('accepts 200 levels and names the place of the 201st', () => {
    expect(faultOf('['.repeat(200) + ']'.repeat(200))).toBeUndefined();
    expect(faultOf('['.repeat(201) + ']'.repeat(201))).toBe('1:201 nested deeper than 200 levels');
    expect(faultOf('{"a":'.repeat(1_000_000))).toBe('1:1001 nested deeper than 200 levels');
  });

  test.each([
    ['a string', () => `"${'a'.repeat(30_000_000)}"`],
    ['escapes', () => `"${'\\n'.repeat(5_000_000)}"`],
    ['digits', () => '1'.repeat(10_000_000)],
    ['space', () => `${' '.repeat(10_000_000)}1`],
    ['elements', () => `[${'1,'.repeat(3_000_000)}1]`],
  ])('goes through millions of characters of %s', (_what, text) => {
    expect(faultOf(text())).toBeUndefined();
  });
});
