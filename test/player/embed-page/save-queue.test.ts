import { describe, expect, test } from 'vitest';
import {
  abandonedSavesOf,
  adopt,
  findOutdatedSave,
  handoverWaitMs,
} from '../../../player/embed-page/abandoned-saves.ts';
import { chooseNotices } from '../../../player/embed-page/choose-notices.ts';
import {
  addTime,
  catchUp,
  continueHere,
  debounceMs,
  handOver,
  skipWait,
  takeAll,
  takeNext,
  waitMs,
} from '../../../player/embed-page/save-queue.ts';
import type { Change, Hold, SaveQueue } from '../../../player/embed-page/save-queue.ts';
import type { WriteResponse } from '../../../player/embed-page/save-response.ts';
import { versionId } from '../../progress/build-progress.ts';
import {
  answerOf,
  contextAt,
  drained,
  newQueue,
  positions,
  SessionRules,
  settle,
  start,
  stepTo,
  taken,
  withChanges,
} from './learner-queue.ts';

const { intro, quiz, end } = positions;
const restart: Change = { position: intro, restart: true };
const finish: Change = { position: end, completed: true };

/** Saves another device's changes. */
const saveElsewhere = (server: SessionRules, changes: Change[], at = start) =>
  drained(withChanges(newQueue(server.record()), changes), server, at);

/** Sends the next write and applies the response. */
function sendNext(queue: SaveQueue, server: SessionRules, at = start) {
  const { queue: sending, body } = taken(queue);
  return settle(sending, server.write(body, at));
}

/** Continues after a conflict, and saves the rest. */
const resolve = (queue: SaveQueue, server: SessionRules, at = start) =>
  drained(continueHere(queue, quiz, versionId, contextAt(at)), server, at);

describe('attempts', () => {
  test('each write names its attempt, and a restart begins the next', () => {
    const queue = withChanges(newQueue(), [answerOf('q1', ['a']), restart, answerOf('q2', ['a'])]);
    const attempts = queue.writes.map(({ attempt, restart: isRestart }) => [attempt, isRestart]);
    expect(attempts).toEqual([
      [1, false],
      [2, true],
    ]);
    const server = new SessionRules();
    drained(queue, server);
    expect(server.state.attempt).toBe(2);
    expect(server.answers()).toEqual({ 'quiz/q2': ['a'] });
  });

  test("writes that a device finishes late never change another device's new attempt; the learner gets a notice", () => {
    const server = new SessionRules();
    const phone = withChanges(newQueue(server.record()), [answerOf('q1', ['b']), finish]);
    saveElsewhere(server, [answerOf('q1', ['a']), finish, restart, answerOf('q2', ['b'])]);
    const { queue, lost } = sendNext(phone, server, start + 60_000);
    expect(lost?.answers).toMatchObject([{ widgetId: 'q1' }]);
    expect(queue).toMatchObject({ hold: 'conflict', writes: [], record: { attempt: 2 } });
    resolve(queue, server);
    expect(server.answers()).toEqual({ 'quiz/q2': ['b'] });
    expect(server.state.finished).toMatchObject({ score: 1, isCurrent: false });
  });

  test('also when the device has tried to send more writes than the other one', () => {
    const server = new SessionRules();
    const changes = [answerOf('q1', ['b']), stepTo(end), answerOf('q1', ['b'], end), stepTo(quiz), finish];
    // The writes that a page sends when it is hidden, offline.
    const phone = changes.reduce(
      (queue, change) => takeAll(withChanges(queue, [change])).queue,
      newQueue(server.record()),
    );
    saveElsewhere(server, [answerOf('q1', ['a']), restart]);
    const { queue, lost } = sendNext(phone, server, start + 60_000);
    expect(lost?.answers).toMatchObject([{ widgetId: 'q1' }]);
    expect(queue).toMatchObject({ hold: 'conflict', writes: [], record: { attempt: 2 } });
  });

  test('a restart after an offline finish never clears the attempt begun on another device', () => {
    const server = new SessionRules();
    const offline = withChanges(newQueue(server.record()), [answerOf('q1', ['b']), finish, restart]);
    let phone = takeAll(withChanges(offline, [answerOf('dial', 1)])).queue;
    saveElsewhere(server, [restart, answerOf('q2', ['b'])]);
    while (waitMs(phone, Infinity) !== null) phone = sendNext(phone, server).queue;
    expect(phone.hold).toBe('conflict');
    resolve(phone, server);
    expect(server.answers()).toEqual({ 'quiz/q2': ['b'], 'quiz/dial': 1 });
    expect(server.state.attempt).toBe(2);
  });

  test('two devices that have both restarted continue with the same attempt', () => {
    const server = new SessionRules();
    const phone = withChanges(newQueue(server.record()), [restart, answerOf('q1', ['a'])]);
    saveElsewhere(server, [restart, answerOf('q2', ['b'])]);
    const { queue, lost } = sendNext(phone, server);
    expect(lost).toBeUndefined();
    resolve(queue, server);
    expect(server.answers()).toEqual({ 'quiz/q1': ['a'], 'quiz/q2': ['b'] });
    expect(server.state.attempt).toBe(2);
  });
});

describe("the queue's content", () => {
  test("answers of one step become one write with each widget's last answer", () => {
    const changes = [answerOf('q1', ['a']), answerOf('q2', ['b']), answerOf('q1', ['c'])];
    const { body, queue } = taken(withChanges(newQueue(), changes));
    expect(queue.writes).toHaveLength(1);
    expect(body.items).toEqual([
      { widgetId: 'q2', answer: ['b'] },
      { widgetId: 'q1', answer: ['c'] },
    ]);
  });

  test('steps without answers need one write', () => {
    const queue = withChanges(newQueue(), [stepTo(quiz), stepTo(end), stepTo(intro)]);
    expect(queue.writes).toMatchObject([{ place: intro, progressData: { visited: ['intro'] } }]);
  });

  test('large answers are not combined into one write', () => {
    const large = 'x'.repeat(200_000);
    expect(withChanges(newQueue(), [answerOf('q1', large), answerOf('q2', large)]).writes).toHaveLength(2);
  });

  test('a day offline keeps one answer for each question', () => {
    let queue = newQueue();
    for (let time = 0; time < 500; time += 1) {
      const position = time % 2 === 0 ? quiz : end;
      queue = withChanges(queue, [stepTo(position), answerOf('q1', time, position)], start + time);
    }
    expect(queue.writes.length).toBeLessThan(100);
    const server = new SessionRules();
    drained(queue, server, start + 1000);
    expect(server.answers()).toEqual({ 'quiz/q1': 498, 'end/q1': 499 });
  });

  test('a variable keeps its value from elsewhere, unless this page has set it', () => {
    const record = { ...new SessionRules().record(), variableState: { a: 'theirs', b: 'theirs' } };
    const change = { position: intro, variables: { a: 'old', b: 'ours', c: 'initial' }, setVariable: 'b' };
    const { body } = taken(withChanges(newQueue(record), [change]));
    expect(body.variableState).toEqual({ a: 'theirs', b: 'ours', c: 'initial' });
  });
});

describe('the time of sending', () => {
  test('answers and a first view are debounced, steps are sent at once', () => {
    const queue = withChanges(newQueue(), [answerOf('q1', ['a'])]);
    expect(waitMs(queue, start)).toBe(debounceMs);
    expect(waitMs(withChanges(queue, [stepTo(end)]), start)).toBe(0);
    expect(waitMs(skipWait(queue, start), start)).toBe(0);
    expect(waitMs(withChanges(newQueue(), [{ position: intro }]), start)).toBe(debounceMs);
  });

  test('one write is in flight at a time, and none while another tab continues', () => {
    const queue = withChanges(newQueue(), [answerOf('q1', ['a']), stepTo(end)]);
    expect(waitMs(taken(queue).queue, Infinity)).toBeNull();
    expect(takeAll(handOver(queue)).bodies).toEqual([]);
  });

  test('backoff grows with failures, up to a minute, with jitter between browsers', () => {
    const fail = (queue: SaveQueue, random: number) =>
      settle(taken(queue).queue, { kind: 'failed', retryAfterMs: 0 }, start, random).queue;
    let queue = withChanges(newQueue(), [stepTo(end)]);
    const pauses: (number | null)[] = [];
    for (let failure = 0; failure < 9; failure += 1) {
      queue = fail(queue, 1);
      pauses.push(waitMs(queue, start));
      queue = { ...queue, notBefore: 0 };
    }
    expect(pauses).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000]);
    expect(waitMs(fail(queue, 0), start)).toBe(30_000);
  });

  test('Retry-After is respected, and a returning network ends the backoff', () => {
    const { queue } = taken(withChanges(newQueue(), [stepTo(end)]));
    const paused = settle(queue, { kind: 'failed', retryAfterMs: 20_000 }).queue;
    expect(waitMs(paused, start)).toBe(20_000);
    expect(waitMs(skipWait(paused, start), start)).toBe(0);
  });
});

describe('the active time on steps', () => {
  const timed = (queue: SaveQueue) => addTime(addTime(queue, 'intro', 4000), 'quiz', 3000);

  test('goes with the next write, once, and also if that gets no response at first', () => {
    const server = new SessionRules();
    const { queue: sending, body } = taken(
      addTime(timed(withChanges(newQueue(), [stepTo(quiz)])), 'quiz', 500),
    );
    expect(body.stepTimes).toEqual({ intro: 4000, quiz: 3500 });
    const failed = settle(addTime(sending, 'quiz', 1000), { kind: 'failed', retryAfterMs: 0 }).queue;
    expect(taken(failed).body).toEqual(body);
    drained(withChanges(failed, [stepTo(end)]), server);
    expect(server.state.stepTimes).toEqual([4000, 4500]);
  });

  test('goes with one write of a page that is closed', () => {
    const { queue, bodies } = takeAll(timed(withChanges(newQueue(), [answerOf('q1', ['a']), stepTo(end)])));
    expect(bodies.map(({ stepTimes }) => stepTimes).filter(Boolean)).toEqual([{ intro: 4000, quiz: 3000 }]);
    expect(queue.stepTimes).toBeUndefined();
  });

  test('never costs an answer: a write that the server rejects is sent again without it', () => {
    const server = new SessionRules();
    const queue = addTime(withChanges(newQueue(), [answerOf('q1', ['a'])]), 'no such step', 1000);
    drained(sendNext(queue, server).queue, server);
    expect(server.answers()).toEqual({ 'quiz/q1': ['a'] });
  });
});

describe('responses', () => {
  test('the answer given later wins, wherever it was given', () => {
    const server = new SessionRules();
    saveElsewhere(server, [answerOf('q1', 'theirs'), answerOf('q2', 'theirs')], start + 5000);
    // The widget has held back the first one.
    const ours = [{ ...answerOf('q1', 'ours'), ageMs: 8000 }, answerOf('q2', 'ours')];
    const { queue } = sendNext(withChanges(newQueue(), ours, start + 9000), server, start + 9000);
    expect(queue.hold).toBe('conflict');
    resolve(queue, server, start + 9500);
    expect(server.answers()).toEqual({ 'quiz/q1': 'theirs', 'quiz/q2': 'ours' });
  });

  test("the second answer to a question is kept although the server's clock is ahead", () => {
    const server = new SessionRules();
    const ahead = start + 600_000;
    const once = drained(withChanges(newQueue(), [answerOf('q1', 'first')]), server, ahead);
    saveElsewhere(server, [answerOf('q2', 'theirs')], ahead);
    const again = withChanges(once, [answerOf('q1', 'second')], start + 1000);
    resolve(sendNext(again, server, ahead).queue, server);
    expect(server.answers()).toEqual({ 'quiz/q1': 'second', 'quiz/q2': 'theirs' });
  });

  test('the last writes of a closed page replace nothing if another device wrote first, and are saved later', () => {
    const server = new SessionRules();
    const changes = [answerOf('q1', 'first'), stepTo(end), answerOf('q1', 'second')];
    const { queue, bodies } = takeAll(withChanges(newQueue(), changes));
    // Another device's write makes the revision that the first write would have made.
    saveElsewhere(server, [answerOf('q1', 'theirs')]);
    expect(bodies.map((body) => server.write(body, start).kind)).toEqual(['conflict', 'conflict']);
    expect(server.answers()).toEqual({ 'quiz/q1': 'theirs' });
    resolve(sendNext(queue, server).queue, server);
    expect(server.answers()).toEqual({ 'quiz/q1': 'second' });
  });

  test('a restart does not clear later changes from elsewhere', () => {
    const server = new SessionRules();
    saveElsewhere(server, [answerOf('q2', 'theirs')]);
    resolve(sendNext(withChanges(newQueue(), [restart]), server).queue, server);
    expect(server.answers()).toEqual({ 'quiz/q2': 'theirs' });
  });

  test('an answer that the server rejects does not affect the others', () => {
    const server = new SessionRules();
    const changes = [answerOf('q1', ['a']), answerOf('no-such-widget', 1), answerOf('q2', ['b'])];
    let queue = withChanges(newQueue(), [...changes, stepTo(quiz)]);
    const dropped: string[] = [];
    while (waitMs(queue, Infinity) !== null) {
      const { queue: next, lost } = sendNext(queue, server);
      queue = next;
      dropped.push(...(lost?.answers ?? []).map(({ widgetId }) => widgetId));
    }
    expect(dropped).toEqual(['no-such-widget']);
    expect(server.answers()).toEqual({ 'quiz/q1': ['a'], 'quiz/q2': ['b'] });
    expect(server.record().progressData).toEqual({ visited: ['quiz'] });
  });

  test('two tabs that open a new lesson at the same time do not conflict', () => {
    const server = new SessionRules();
    const firstView = withChanges(newQueue(), [{ position: intro }]);
    drained(firstView, server);
    expect(sendNext(firstView, server).queue).toMatchObject({ hold: null, writes: [] });
  });

  test('a response without a request changes nothing', () => {
    const queue = newQueue();
    const failed: WriteResponse = { kind: 'failed', retryAfterMs: 0 };
    expect(settle(queue, failed).queue).toBe(queue);
    expect(takeNext(queue)).toBeUndefined();
  });
});

describe('changes adopted from another tab', () => {
  const here = { position: intro, versionId };
  const savesOf = (changes: Change[], server = new SessionRules()) =>
    abandonedSavesOf(withChanges(newQueue(server.record()), changes));

  test('are dropped if the learner has restarted since, however many writes that tab may have sent', () => {
    const server = new SessionRules();
    const few = savesOf([answerOf('q1', ['a'])], server);
    const changes = [answerOf('q1', ['a']), stepTo(end), answerOf('q1', ['a'], end), stepTo(quiz)];
    const many = abandonedSavesOf(takeAll(withChanges(newQueue(server.record()), changes)).queue);
    saveElsewhere(server, [answerOf('q1', ['b']), restart, answerOf('q2', ['b'])]);
    const opened = newQueue(server.record());
    for (const saves of [few, many]) {
      expect(findOutdatedSave(opened, [saves])?.answers).toMatchObject([{ widgetId: 'q1' }]);
      const { writes } = adopt(opened, [saves], here, contextAt(start));
      expect(writes.flatMap(({ answers }) => answers)).toEqual([]);
    }
    drained(adopt(opened, [few], here, contextAt(start)), server);
    expect(server.answers()).toEqual({ 'quiz/q2': ['b'] });
  });

  test('are adopted once, even when handed over again after they were saved', () => {
    const saves = savesOf([answerOf('q1', ['a'])]);
    const queue = adopt(newQueue(), [saves, saves], here, contextAt(start));
    expect(queue.writes).toHaveLength(1);
    const done = drained(queue, new SessionRules());
    expect(adopt(done, [saves], here, contextAt(start))).toBe(done);
  });

  test('wait for the newer record of a tab that has saved something meanwhile', () => {
    const server = new SessionRules();
    const rendered = newQueue(server.record());
    saveElsewhere(server, [answerOf('q1', ['a'])]);
    const saves = savesOf([answerOf('q2', ['b'])], server);
    const queue = adopt(rendered, [saves], here, contextAt(start));
    expect(waitMs(queue, start)).toBe(handoverWaitMs);
    const { hold } = drained(catchUp(queue, server.record()), server, start + handoverWaitMs);
    expect([hold, server.answers()]).toEqual([null, { 'quiz/q1': ['a'], 'quiz/q2': ['b'] }]);
  });

  test('do not undo later changes from elsewhere', () => {
    const server = new SessionRules();
    const saves = savesOf([stepTo(quiz), answerOf('q1', 'old'), answerOf('q2', 'only here')]);
    const later = start + 60_000;
    drained(withChanges(newQueue(), [answerOf('q1', 'new'), stepTo(end)]), server, later);
    const atEnd = { position: end, versionId };
    drained(adopt(newQueue(server.record()), [saves], atEnd, contextAt(later)), server, later);
    expect(server.answers()).toEqual({ 'quiz/q1': 'new', 'quiz/q2': 'only here' });
    expect(server.state.stepId).toBe('end');
    expect(server.record().progressData).toEqual({ visited: ['end'] });
  });

  test("are sent first, and this tab's position stays", () => {
    const server = new SessionRules();
    const own = withChanges(newQueue(), [stepTo(end)]);
    drained(adopt(own, [savesOf([answerOf('q1', ['a'])])], here, contextAt(start)), server);
    expect(server.answers()).toEqual({ 'quiz/q1': ['a'] });
    expect(server.state.stepId).toBe('end');
  });
});

const waiting = withChanges(newQueue(), [answerOf('q1', 'a')]);
const calm = { queue: waiting, isStored: true, isOnline: true, isStuck: false, hasLost: false };
const failed = (failures: number) => ({ ...calm, queue: { ...waiting, failures } });
const held = (hold: Hold) => ({ ...calm, queue: { ...waiting, hold } });

test.each([
  ['everything is saved', { ...calm, queue: newQueue() }, []],
  ['an answer is being sent', calm, []],
  ['one request failed', failed(1), []],
  ['requests fail', failed(2), ['offline', 'kept']],
  ['the network is down', { ...failed(1), isOnline: false }, ['offline', 'kept']],
  [
    'the network is down, and nothing waits',
    { ...calm, queue: newQueue(), isOnline: false },
    ['offline', 'kept'],
  ],
  ['nothing is stored', { ...failed(2), isStored: false }, ['offline', 'keepOpen']],
  ['the token has expired', held('expired'), ['expired', 'kept']],
  ['the token has expired, and nothing is stored', { ...held('expired'), isStored: false }, ['expired']],
  ['another tab took over', held('elsewhere'), ['elsewhere']],
  ['another device wrote', held('conflict'), ['conflict']],
  ['the lesson is gone', held('gone'), ['gone']],
  ['an answer was rejected', { ...calm, hasLost: true }, ['lost']],
  ['the frame does not respond', { ...calm, isStuck: true }, ['stuck']],
])('the learner sees the most important notice when %s', (_when, situation, notices) => {
  expect(chooseNotices(situation)).toEqual(notices);
});
