import { describe, expect, test } from 'vitest';
import { noticeWords } from '../../../api/embed/notice-words.ts';
import { noticeFor } from '../../../player/embed-page/notice-for.ts';
import type { NoticeWords } from '../../../player/embed-page/notice-words.ts';
import type { SaveQueue } from '../../../player/embed-page/save-queue.ts';
import { answerOf, newQueue, withChanges } from './learner-queue.ts';

const waiting = withChanges(newQueue(), [answerOf('q1', 'a')]);
const calm = { queue: newQueue(), isKept: true, isOnline: true, isStuck: false, hasLost: false };
const failed = (failures: number): SaveQueue => ({ ...waiting, failures });

describe('the words are there', () => {
  test.each(['en', 'es', 'fr', 'de', 'pt-BR', 'ar', 'zh-Hans', 'nl'])('in %s', (language) => {
    const words: NoticeWords = noticeWords(language);
    expect(Object.values(words).every((text) => text !== '')).toBe(true);
    expect(words === noticeWords('en')).toBe(language === 'en' || language === 'nl');
  });
});

test.each([
  ['all is saved', calm, []],
  ['an answer is on its way', { ...calm, queue: waiting }, []],
  ['one request failed', { ...calm, queue: failed(1) }, []],
  ['requests fail', { ...calm, queue: failed(2) }, ['offline', 'kept']],
  ['the network is away', { ...calm, queue: failed(1), isOnline: false }, ['offline', 'kept']],
  ['the network is away, and nothing waits', { ...calm, isOnline: false }, []],
  ['nothing is kept', { ...calm, queue: failed(2), isKept: false }, ['offline', 'keepOpen']],
  ['the token ended', { ...calm, queue: { ...waiting, hold: 'expired' as const } }, ['expired', 'kept']],
  [
    'the token ended, and nothing is kept',
    { ...calm, queue: { ...waiting, hold: 'expired' as const }, isKept: false },
    ['expired'],
  ],
  ['another tab goes on', { ...calm, queue: { ...waiting, hold: 'elsewhere' as const } }, ['elsewhere']],
  ['another device wrote', { ...calm, queue: { ...waiting, hold: 'conflict' as const } }, ['conflict']],
  ['the lesson is gone', { ...calm, queue: { ...waiting, hold: 'gone' as const } }, ['gone']],
  ['an answer was refused', { ...calm, hasLost: true }, ['lost']],
  ['the frame does not answer', { ...calm, isStuck: true }, ['stuck']],
])('a learner is told what matters when %s', (_when, situation, texts) => {
  expect(noticeFor(situation)).toEqual(texts);
});
