import fc from 'fast-check';
import { expect, test } from 'vitest';

import { itemsFromJson, itemsToJson } from '../../shared/progress/state.ts';
import type { StoredItem } from '../../shared/progress/state.ts';
import { maxTries, readTries } from '../../shared/progress/tries.ts';

const item: StoredItem = {
  widgetId: 'MultipleChoice-1',
  widgetType: 'MultipleChoice',
  stepId: 'step-1',
  answer: '["a"]',
  score: 1,
  maxScore: 2,
  answeredAt: '2026-03-01T10:00:00.000Z',
};

test('items are written as a JSON array of objects, in this order of fields', () => {
  expect(itemsToJson([item])).toBe(
    '[{"widgetId":"MultipleChoice-1","widgetType":"MultipleChoice","stepId":"step-1","answer":["a"],' +
      '"score":1,"maxScore":2,"answeredAt":"2026-03-01T10:00:00.000Z"}]',
  );
  expect(itemsToJson([{ ...item, tries: 2 }])).toMatch(/Z","tries":2\}\]$/);
  expect(itemsToJson([])).toBe('[]');
});

test('items read back unchanged, byte for byte', () => {
  const points = fc.option(fc.double({ min: 0, max: 1000, noNaN: true }).map((value) => value + 0));
  const answer = fc.oneof(
    fc.json(),
    fc.jsonValue().map((value) => JSON.stringify(value, null, 2)),
    fc.constantFrom('12345678901234567890', '1e400', '{"2":1,"1":2,"2":3}', '"\\ud800"', '{"answer":[1, 2]}'),
  );
  const required = {
    widgetId: fc.string(),
    widgetType: fc.string(),
    stepId: fc.string(),
    answer,
    score: points,
    maxScore: points,
    answeredAt: fc.constant(item.answeredAt),
  };
  const anyItem: fc.Arbitrary<StoredItem> = fc.oneof(
    fc.record(required),
    fc.record({ ...required, tries: fc.nat() }),
  );
  fc.assert(
    fc.property(fc.array(anyItem), (items) => {
      expect(itemsFromJson(itemsToJson(items))).toEqual(items);
    }),
  );
});

test('the tries of items of any release are read: whole numbers, of known widgets, up to the maximum', () => {
  const [place, other] = [
    { stepId: 'step-1', widgetId: 'quiz' },
    { stepId: 'step-2', widgetId: 'quiz' },
  ];
  const items = [
    { ...place, tries: 2 },
    { ...other, tries: maxTries + 1 },
    { ...place, tries: 1.5 },
    place,
    { ...place, stepId: 1, tries: 1 },
    { ...place, widgetId: null, tries: 1 },
    null,
    7,
  ];
  expect(readTries(items)).toEqual([
    { ...place, tries: 2 },
    { ...other, tries: maxTries },
  ]);
  expect(readTries({ length: 1 })).toEqual([]);
});
