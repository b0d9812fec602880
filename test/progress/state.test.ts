import { expect, test } from 'vitest';

import { itemsJson, variablesJson } from '../../shared/progress/state.ts';
import type { StoredItem } from '../../shared/progress/state.ts';

const item: StoredItem = {
  widgetId: 'MultipleChoice-1',
  widgetType: 'MultipleChoice',
  stepId: 'step-1',
  answer: '["a"]',
  score: 1,
  maxScore: 2,
  tries: 1,
  answeredAt: new Date('2026-03-01T10:00:00.000Z'),
  writeId: 'a',
};

test('items are written as a JSON array of objects, in this order of fields, with tries unless there was one', () => {
  expect(itemsJson([item])?.text).toBe(
    '[{"widgetId":"MultipleChoice-1","widgetType":"MultipleChoice","stepId":"step-1","answer":["a"],' +
      '"score":1,"maxScore":2,"answeredAt":"2026-03-01T10:00:00.000Z"}]',
  );
  expect(itemsJson([{ ...item, tries: 2 }])?.text).toMatch(/Z","tries":2\}\]$/);
  expect(itemsJson([])).toBeNull();
});

test('values and names are written byte for byte, in their sequence', () => {
  const order = { at: item.answeredAt, writeId: item.writeId };
  const texts = ['12345678901234567890', '1e400', '{"2":1,"1":2,"2":3}', '"\\ud800"', '[1, 2]'];
  const variables = texts.map((value, index) => ({ ...order, name: `${9 - index}`, value }));
  expect(variablesJson(variables)?.text).toBe(
    `{"9":${texts[0]},"8":${texts[1]},"7":${texts[2]},"6":${texts[3]},"5":${texts[4]}}`,
  );
  const { text = '' } = itemsJson(texts.map((answer) => ({ ...item, answer }))) ?? {};
  for (const answer of texts) expect(text).toContain(`"answer":${answer},`);
  expect(variablesJson([])).toBeNull();
});
