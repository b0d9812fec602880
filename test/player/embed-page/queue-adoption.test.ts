import { describe, expect, test } from 'vitest';
import { adopt, leftoverOf, outdatedLeftover } from '../../../player/embed-page/abandoned-saves.ts';
import { projected } from '../../../player/embed-page/queued-write.ts';
import { catchUp, takeAll } from '../../../player/embed-page/save-queue.ts';
import { versionId } from '../../progress/build-progress.ts';
import {
  answerOf,
  contextAt,
  drained,
  newQueue,
  places,
  SessionRules,
  start,
  stepTo,
  withChanges,
} from './learner-queue.ts';

describe('changes adopted from another tab', () => {
  const here = { place: places.intro, versionId };

  test('are shown at once, and saved', () => {
    const server = new SessionRules();
    const left = withChanges(newQueue(), [stepTo(places.quiz), answerOf('q1', ['a'])]);
    const queue = adopt(newQueue(), [leftoverOf(left)], here, contextAt(start + 1));
    expect(projected(queue.record, queue.writes)).toMatchObject({
      stepId: 'quiz',
      items: [{ stepId: 'quiz', widgetId: 'q1', answer: ['a'] }],
    });
    drained(queue, server);
    expect(server.answers()).toEqual({ 'quiz/q1': ['a'] });
  });

  test('are dropped if the learner has restarted since', () => {
    const server = new SessionRules();
    const leftover = leftoverOf(withChanges(newQueue(server.record()), [answerOf('q1', ['a'])]));
    const since = [answerOf('q1', ['b']), { place: places.intro, restart: true }, answerOf('q2', ['b'])];
    // However many writes that tab may have sent.
    const changes = [
      answerOf('q1', ['a']),
      stepTo(places.end),
      answerOf('q1', ['a'], places.end),
      stepTo(places.quiz),
    ];
    const many = takeAll(withChanges(newQueue(server.record()), changes)).queue;
    drained(withChanges(newQueue(server.record()), since), server);
    const opened = newQueue(server.record());
    expect(outdatedLeftover(opened, [leftover])?.answers).toMatchObject([{ widgetId: 'q1' }]);
    drained(adopt(opened, [leftover], here, contextAt(start)), server);
    expect(outdatedLeftover(opened, [leftoverOf(many)])?.answers).toMatchObject([{ widgetId: 'q1' }]);
    expect(
      adopt(opened, [leftoverOf(many)], here, contextAt(start)).writes.flatMap(({ answers }) => answers),
    ).toEqual([]);
    expect(server.answers()).toEqual({ 'quiz/q2': ['b'] });
  });

  test('are adopted once, even when handed over again after they were saved', () => {
    const server = new SessionRules();
    const leftover = leftoverOf(withChanges(newQueue(), [answerOf('q1', ['a'])]));
    const queue = adopt(newQueue(), [leftover, leftover], here, contextAt(start));
    expect(queue.writes).toHaveLength(1);
    const done = drained(queue, server);
    expect(adopt(done, [leftover], here, contextAt(start))).toBe(done);
  });

  test('include what that tab added before the takeover reached it', () => {
    const server = new SessionRules();
    const before = withChanges(newQueue(), [{ place: places.quiz }]);
    const queue = adopt(newQueue(), [leftoverOf(before)], here, contextAt(start));
    const after = withChanges(before, [answerOf('q1', ['a'])], start + 1);
    drained(adopt(queue, [leftoverOf(after)], here, contextAt(start + 2)), server);
    expect(server.answers()).toEqual({ 'quiz/q1': ['a'] });
  });

  test('do not undo later changes from elsewhere', () => {
    const server = new SessionRules();
    const changes = [stepTo(places.quiz), answerOf('q1', 'old'), answerOf('q2', 'only here')];
    const leftover = leftoverOf(withChanges(newQueue(), changes));
    const since = [answerOf('q1', 'new'), stepTo(places.end)];
    drained(withChanges(newQueue(), since), server, start + 60_000);
    const atEnd = { place: places.end, versionId };
    drained(
      adopt(newQueue(server.record()), [leftover], atEnd, contextAt(start + 90_000)),
      server,
      start + 90_000,
    );
    expect(server.answers()).toEqual({ 'quiz/q1': 'new', 'quiz/q2': 'only here' });
    expect(server.state.stepId).toBe('end');
    expect(server.record().progressData).toEqual({ visited: ['end'] });
  });

  test("are sent first, and this tab's position stays", () => {
    const server = new SessionRules();
    const own = withChanges(newQueue(), [stepTo(places.end)]);
    const leftover = leftoverOf(withChanges(newQueue(), [answerOf('q1', ['a'])]));
    drained(adopt(own, [leftover], here, contextAt(start)), server);
    expect(server.answers()).toEqual({ 'quiz/q1': ['a'] });
    expect(server.state.stepId).toBe('end');
  });
});

test('saves of another tab are known before the first write, and cause no conflict', () => {
  const server = new SessionRules();
  drained(withChanges(newQueue(), [answerOf('q1', ['a'])]), server);
  const queue = withChanges(catchUp(newQueue(), server.record()), [answerOf('q2', ['b'])]);
  drained(queue, server);
  expect(server.answers()).toEqual({ 'quiz/q1': ['a'], 'quiz/q2': ['b'] });
  expect(catchUp(queue, newQueue().record)).toBe(queue);
});
