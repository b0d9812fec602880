import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isVisible } from '../../player/lesson/visibility.ts';

type Row = [op: string, variable: unknown, value: unknown, shown: boolean];

describe('visibleIf', () => {
  it.each<Row>([
    ['eq', 5, 5, true],
    ['eq', 5, 6, false],
    ['ne', 5, 6, true],
    ['ne', 5, 5, false],
    ['gt', 6, 5, true],
    ['gt', 5, 5, false],
    ['gte', 5, 5, true],
    ['gte', 4, 5, false],
    ['lt', 4, 5, true],
    ['lt', 5, 5, false],
    ['lte', 5, 5, true],
    ['lte', 6, 5, false],
    ['eq', '5', 5, true],
    ['eq', ['b'], 'b', true],
    ['eq', ['a', 'b'], ['b', 'a'], true],
    ['eq', 'true', true, true],
    ['lt', 'apple', 'banana', true],
    ['eq', null, undefined, true],
    ['eq', false, 0, false],
  ])('%s of %o and %o is %o', (op, variable, value, shown) => {
    expect(isVisible({ variable: 'v', op, value }, { v: variable })).toBe(shown);
  });

  it('does not order values of different types', () => {
    for (const op of ['gt', 'gte', 'lt', 'lte']) {
      for (const value of [null, true, 'text', ['a', 'b'], { a: 1 }]) {
        expect(isVisible({ variable: 'v', op, value }, { v: 1 })).toBe(false);
      }
    }
  });

  it('an unset variable is null', () => {
    expect(isVisible({ variable: 'gone', op: 'eq', value: null }, {})).toBe(true);
    expect(isVisible({ variable: 'toString', op: 'eq', value: null }, {})).toBe(true);
    expect(isVisible({ variable: 'gone', op: 'gt', value: 0 }, {})).toBe(false);
  });

  it('an invalid condition hides nothing', () => {
    const broken = [undefined, null, 'never', {}, { variable: 3, op: 'eq' }, { variable: 'v', op: 'like' }];
    for (const condition of broken) expect(isVisible(condition, { v: 1 })).toBe(true);
  });

  it('eq and ne are opposites for any JSON values, and so are gt and lte for ordered ones', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (variable, value) => {
        const holds = (op: string) => isVisible({ variable: 'v', op, value }, { v: variable });
        expect(holds('eq')).toBe(!holds('ne'));
        if (holds('gte') || holds('lte')) expect(holds('gt')).toBe(!holds('lte'));
        else expect(holds('gt') || holds('lt')).toBe(false);
      }),
    );
  });
});
