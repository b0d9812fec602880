import { describe, expect, test } from 'vitest';

import { LecternError } from '../../shared/platform/errors.ts';
import { parseProgressWrite } from '../../shared/progress/write.ts';

const versionId = 'AAAAAAAA-0000-4000-8000-00000000000A';
const writeId = 'BBBBBBBB-0000-4000-8000-00000000000B';

/** A body with the required members and these, each as JSON text. */
const bodyWith = (members: Record<string, string> = {}) => {
  const required = {
    versionId: `"${versionId}"`,
    currentSectionIndex: '1',
    currentStepIndex: '0',
  };
  const all = Object.entries({ ...required, ...members }).filter(([, value]) => value !== '');
  return `{ ${all.map(([name, value]) => `"${name}": ${value}`).join(', ')} }`;
};
const itemWith = (members: string) => bodyWith({ items: `[{"widgetId": "q", ${members}}]` });
const nested = (levels: number) => '{"a":'.repeat(levels - 1) + '{}' + '}'.repeat(levels - 1);

describe('the body of a write', () => {
  test('may have only these fields, and then keeps the stored values', () => {
    expect(parseProgressWrite(bodyWith())).toEqual({
      versionId: versionId.toLowerCase(),
      attempt: undefined,
      writeId: undefined,
      ageMs: 0,
      currentSectionIndex: 1,
      currentStepIndex: 0,
      progressData: undefined,
      variables: [],
      items: [],
      stepTimes: {},
      completed: false,
      restart: false,
    });
  });

  test('may claim all points', () => {
    const { items } = parseProgressWrite(itemWith('"answer": 1, "score": 2, "maxScore": 2'));
    expect(items).toMatchObject([{ score: 2, maxScore: 2 }]);
  });

  test('may have all of this', () => {
    const items =
      '[{"widgetId":"q","answer":["a"]},{"answer":0.5,"maxScore":2,"score":1.5,"widgetId":"s","tries":3,"stepId":"t","ageMs":0.5}]';
    expect(
      parseProgressWrite(
        bodyWith({
          writeId: `"${writeId}"`,
          items,
          stepTimes: '{"s":1}',
          completed: 'true',
          restart: 'true',
        }),
      ),
    ).toMatchObject({
      stepTimes: { s: 1 },
      writeId: writeId.toLowerCase(),
      items: [
        { widgetId: 'q', answer: '["a"]', score: null, maxScore: null },
        { widgetId: 's', answer: '0.5', score: 1.5, maxScore: 2, tries: 3, stepId: 't', ageMs: 0.5 },
      ],
      completed: true,
      restart: true,
    });
  });

  test.each([
    ['the order of names that look like numbers', '{"b": 1, "2": 1, "1": 2}'],
    ['numbers that are too big for a double', '{"a": 12345678901234567890, "b": 1e400}'],
    ['repeated names', '{"a": 1, "a": 2}'],
    ['whitespace and escapes', '{ "\\u0061" :\t"\\ud800" }'],
    ['__proto__', '{"__proto__": {"a": 1}}'],
    ['nesting up to the limit', nested(197)],
  ])('keeps %s in JSON-valued fields', (_title, json) => {
    const items = `[{"widgetId": "q", "answer": ${json}}]`;
    const write = parseProgressWrite(
      bodyWith({ progressData: json, variableState: `{"2": 1, "x": ${json}}`, items }),
    );
    expect([write.progressData, write.items[0]?.answer]).toEqual([json, json]);
    expect(write.variables.at(-1)).toEqual({ name: 'x', value: json });
  });

  test('null clears, also when it is written last', () => {
    expect(parseProgressWrite(bodyWith({ progressData: ' null ' })).progressData).toBeNull();
  });

  test('an answer may be any JSON value', () => {
    for (const answer of ['null', 'false', '0', '""', '[]', '{}', '"text"', '1e400']) {
      expect(parseProgressWrite(itemWith(`"answer": ${answer}`)).items[0]?.answer).toBe(answer);
    }
  });
});

describe('a fault in the body of a write', () => {
  const pointsFault = 'must be a number from 0 to 1000';
  const wholeFault = 'must be a whole number of 0 or more';

  test.each<[body: string, message: string]>([
    ['[]', 'Request body must be an object'],
    [bodyWith({ score: '100' }), 'Request body has an unknown field "score"'],
    [bodyWith({ versionId: '' }), 'versionId must be a UUID'],
    [bodyWith({ revision: '1' }), 'Request body has an unknown field "revision"'],
    [bodyWith({ attempt: '0' }), 'attempt must be a whole number from 1 to 1000'],
    [bodyWith({ ageMs: '"1"' }), 'ageMs must be a number'],
    [bodyWith({ currentSectionIndex: '0.5' }), `currentSectionIndex ${wholeFault}`],
    [bodyWith({ currentStepIndex: '1e400' }), `currentStepIndex ${wholeFault}`],
    [bodyWith({ progressData: '[]' }), 'progressData must be an object or null'],
    [bodyWith({ variableState: '"x"' }), 'variableState must be an object'],
    [bodyWith({ completed: 'false' }), 'completed must be true or omitted'],
    [bodyWith({ restart: '1' }), 'restart must be true or omitted'],
    [bodyWith({ stepTimes: '{"s": -1}' }), 'stepTimes.s must be a number from 0 to 86400000'],
    [bodyWith({ items: '{}' }), 'items must be an array'],
    [bodyWith({ items: '[1]' }), 'items[0] must be an object'],
    [bodyWith({ items: '[{"answer": 1}]' }), 'items[0].widgetId must be a string'],
    [bodyWith({ items: '[{"widgetId": "q"}]' }), 'items[0].answer is missing'],
    [itemWith('"answer": 1, "step": "s"'), 'items[0] has an unknown field "step"'],
    [itemWith('"answer": 1, "stepId": 1'), 'items[0].stepId must be a string'],
    [itemWith('"answer": 1, "ageMs": null'), 'items[0].ageMs must be a number'],
    [itemWith('"answer": 1, "maxScore": 1'), 'items[0] must have both score and maxScore, or neither'],
    [itemWith('"answer": 1, "score": 2, "maxScore": 1'), 'items[0].score must be at most maxScore'],
    [itemWith('"answer": 1, "tries": 0'), 'items[0].tries must be a whole number from 1 to 1000'],
    [itemWith('"answer": 1, "score": null, "maxScore": null'), `items[0].score ${pointsFault}`],
    [itemWith('"answer": 1, "score": 1, "maxScore": 1e400'), `items[0].maxScore ${pointsFault}`],
  ])('%.70s is reported', (body, message) => {
    expect(() => parseProgressWrite(body)).toThrow(new LecternError('INVALID_CONTENT', message));
  });

  test('is more than 1000 items', () => {
    const bodyOf = (count: number) =>
      bodyWith({
        items: `[${Array.from({ length: count }, () => '{"widgetId":"q","answer":1}').join(',')}]`,
      });
    expect(parseProgressWrite(bodyOf(1000)).items).toHaveLength(1000);
    expect(() => parseProgressWrite(bodyOf(1001))).toThrow('items must have at most 1000 elements');
  });
});
