import { expect, test } from 'vitest';
import { noticeFor } from '../../../player/embed-page/notice-for.ts';
import type { SaveQueue } from '../../../player/embed-page/save-queue.ts';
import { answerOf, newQueue, withChanges } from './learner-queue.ts';

const waiting = withChanges(newQueue(), [answerOf('q1', 'a')]);
const calm = { queue: newQueue(), isKept: true, isOnline: true, isStuck: false, hasLost: false };
const failed = (failures: number): SaveQueue => ({ ...waiting, failures });

test.each([
  ['everything is saved', calm, []],
  ['an answer is being sent', { ...calm, queue: waiting }, []],
  ['one request failed', { ...calm, queue: failed(1) }, []],
  ['requests fail', { ...calm, queue: failed(2) }, ['offline', 'kept']],
  ['the network is down', { ...calm, queue: failed(1), isOnline: false }, ['offline', 'kept']],
  ['the network is down, and nothing waits', { ...calm, isOnline: false }, []],
  ['nothing is stored', { ...calm, queue: failed(2), isKept: false }, ['offline', 'keepOpen']],
  [
    'the token has expired',
    { ...calm, queue: { ...waiting, hold: 'expired' as const } },
    ['expired', 'kept'],
  ],
  [
    'the token has expired, and nothing is stored',
    { ...calm, queue: { ...waiting, hold: 'expired' as const }, isKept: false },
    ['expired'],
  ],
  ['another tab took over', { ...calm, queue: { ...waiting, hold: 'elsewhere' as const } }, ['elsewhere']],
  ['another device wrote', { ...calm, queue: { ...waiting, hold: 'conflict' as const } }, ['conflict']],
  ['the lesson is gone', { ...calm, queue: { ...waiting, hold: 'gone' as const } }, ['gone']],
  ['an answer was rejected', { ...calm, hasLost: true }, ['lost']],
  ['the frame does not respond', { ...calm, isStuck: true }, ['stuck']],
])('the learner sees the most important notice when %s', (_when, situation, texts) => {
  expect(noticeFor(situation)).toEqual(texts);
});
