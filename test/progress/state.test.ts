import fc from 'fast-check';
import { expect, test } from 'vitest';

import { itemsFromJson, itemsToJson } from '../../shared/progress/state.ts';
import type { StoredItem } from '../../shared/progress/state.ts';

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
  expect(itemsToJson([])).toBe('[]');
});

test('items read back unchanged, byte for byte', () => {
  const points = fc.option(fc.double({ min: 0, max: 1000, noNaN: true }).map((value) => value + 0));
  const answer = fc.oneof(
    fc.json(),
    fc.jsonValue().map((value) => JSON.stringify(value, null, 2)),
    fc.constantFrom('12345678901234567890', '1e400', '{"2":1,"1":2,"2":3}', '"\\ud800"', '{"answer":[1, 2]}'),
  );
  const anyItem = fc.record<StoredItem>({
    widgetId: fc.string(),
    widgetType: fc.string(),
    stepId: fc.string(),
    answer,
    score: points,
    maxScore: points,
    answeredAt: fc.constant(item.answeredAt),
  });
  fc.assert(
    fc.property(fc.array(anyItem), (items) => {
      expect(itemsFromJson(itemsToJson(items))).toEqual(items);
    }),
  );
});
