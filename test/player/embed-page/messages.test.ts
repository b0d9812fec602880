import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readFrameMessage } from '../../../player/embed-page/frame-messages.ts';
import { readHostRequest } from '../../../player/embed-page/host-messages.ts';

const state = { progressData: { visited: ['s1'] }, variables: { name: 'Ada' } };
const points = { score: 1, maxScore: 2 };
const answeredAt = '2026-01-02T03:04:05.678Z';
const item = { stepId: 's1', widgetId: 'q1', answer: ['b'], ...points, answeredAt };

describe("the parser accepts the frame's messages", () => {
  test.each([
    { type: 'ready', stepId: 's1', atEnd: false },
    { type: 'step', stepId: 's1', state, completed: true },
    { type: 'answer', stepId: 's1', state, item },
    { type: 'variable', stepId: 's1', state, name: 'name' },
    { type: 'restart', stepId: 's1' },
    { type: 'time', stepId: 's1', activeMs: 1500.5 },
    { type: 'unmounted' },
    { type: 'error', code: 'widget_failed', message: 'broken' },
    { type: 'resize', height: 300 },
  ])('$type', (message) => {
    expect(readFrameMessage({ ...message, more: 'is left out' })).toEqual(message);
  });
});

describe('the parser ignores other data', () => {
  const cyclic: Record<string, unknown> = { type: 'ready', stepId: 's1' };
  cyclic.self = cyclic;
  test.each<[string, unknown]>([
    ['nothing', undefined],
    ['a list', [{ type: 'ready', stepId: 's1' }]],
    ['a cycle', cyclic],
    ['a number too large for JSON', { type: 'ready', stepId: 's1', more: 1n }],
    ['an unknown type', { type: 'eval', stepId: 's1', state }],
    ['a step without an id', { type: 'step', state, completed: false }],
    ['a step with an overlong id', { type: 'step', stepId: 's'.repeat(256), state, completed: false }],
    ['a step without its state', { type: 'step', stepId: 's1', completed: false }],
    ['state that is not an object', { type: 'step', stepId: 's1', state: { ...state, variables: [] } }],
    ['a variable outside the variables', { type: 'variable', stepId: 's1', state, name: 'toString' }],
    [
      'an answer without a value',
      { type: 'answer', stepId: 's1', state, item: { ...item, answer: undefined } },
    ],
    ['an answer without a widget', { type: 'answer', stepId: 's1', state, item: { ...item, widgetId: '' } }],
    ['a negative height', { type: 'resize', height: -1 }],
    ['an infinite height', { type: 'resize', height: 1e9 }],
    [
      'more than a write can hold',
      { type: 'answer', stepId: 's1', state, item: { ...item, answer: 'x'.repeat(1e6) } },
    ],
  ])('%s', (_what, message) => {
    expect(readFrameMessage(message)).toBeUndefined();
  });
});

test.each([
  [{ score: 3, maxScore: 2 }],
  [{ score: -1, maxScore: 2 }],
  [{ score: 1 }],
  [{ score: '1', maxScore: '2' }],
  [{ score: 1, maxScore: 1001 }],
])('an answer with the result %j is kept without the result', (result) => {
  const message = {
    type: 'answer',
    stepId: 's1',
    state,
    item: { stepId: 's1', widgetId: 'q1', answer: ['b'], ...result },
  };
  expect(readFrameMessage(message)).toMatchObject({ item: { answer: ['b'], score: null, maxScore: null } });
});

describe("the parser of a host page's messages", () => {
  const envelope = { source: 'lectern', v: 1 };

  test.each([
    { type: 'hello' },
    { type: 'setToken', token: 'a.b.c' },
    { type: 'tokenDelayed' },
    { type: 'viewport', height: 500 },
    { type: 'viewport', height: 500, part: { top: -1e9, bottom: 1e9 } },
    { type: 'colorScheme', scheme: 'dark' },
    { type: 'goTo', stepId: 's1' },
  ])('accepts $type', ({ part, ...request }: { type: string; part?: object }) => {
    expect(readHostRequest({ ...envelope, ...request, ...part })).toEqual({
      ...request,
      ...(part && { part }),
    });
  });

  test.each<[unknown]>([
    [null],
    ['setToken'],
    [[]],
    [{ type: 'setToken', token: 'x' }],
    [{ ...envelope, v: 2, type: 'setToken', token: 'x' }],
    [{ ...envelope, type: 'setToken', token: {} }],
    [{ ...envelope, type: 'setToken', token: 'x'.repeat(100_000) }],
    [{ ...envelope, type: 'eval' }],
    [{ ...envelope, type: 'goTo', stepId: 7 }],
    ...[0, -1, NaN, Infinity, '500'].map((height): [unknown] => [{ ...envelope, type: 'viewport', height }]),
  ])('ignores %j', (request) => {
    expect(readHostRequest(request)).toBeUndefined();
  });

  test.each([
    [NaN, 9],
    [900, -900],
  ])('takes a part from %d to %d for unknown', (top, bottom) => {
    const viewport = { ...envelope, type: 'viewport', height: 500, top, bottom };
    expect(readHostRequest(viewport)).toEqual({ type: 'viewport', height: 500 });
  });
});

test('any data is either parsed or ignored, and never throws', () => {
  fc.assert(
    fc.property(fc.anything(), (data) => {
      readHostRequest(data);
      readFrameMessage(data);
      readFrameMessage({ type: 'answer', stepId: 's1', state: data, item: data });
    }),
  );
});
