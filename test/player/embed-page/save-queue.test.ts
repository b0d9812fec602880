import { describe, expect, test } from 'vitest';
import {
  answerDelay,
  goOnHere,
  handOver,
  hurry,
  renewed,
  takeAll,
  takeNext,
  waitTime,
} from '../../../player/embed-page/save-queue.ts';
import { versionId } from '../../progress/build-progress.ts';
import {
  afterAnswer,
  answerOf,
  contextAt,
  drained,
  newQueue,
  places,
  SessionRules,
  settle,
  start,
  stepTo,
  taken,
  withChanges,
} from './learner-queue.ts';

describe('attempts', () => {
  const finish = { place: places.end, completed: true };

  test('each write names its attempt, and a restart begins the next', () => {
    const changes = [answerOf('q1', ['a']), { place: places.intro, restart: true }, answerOf('q2', ['a'])];
    const queue = withChanges(newQueue(), changes);
    expect(queue.writes.map(({ attempt, restart }) => [attempt, restart])).toEqual([
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
    const laptop = [
      answerOf('q1', ['a']),
      finish,
      { place: places.intro, restart: true },
      answerOf('q2', ['b']),
    ];
    drained(withChanges(newQueue(server.record()), laptop), server);
    const { queue: sending, body } = taken(phone);
    const { queue, lost } = settle(sending, server.write(body, start + 60_000));
    expect(lost?.answers).toMatchObject([{ widgetId: 'q1' }]);
    expect(queue).toMatchObject({ hold: 'conflict', writes: [], record: { attempt: 2 } });
    drained(goOnHere(queue, places.quiz, versionId, contextAt(start)), server);
    expect(server.answers()).toEqual({ 'quiz/q2': ['b'] });
    expect(server.state.finished).toMatchObject({ score: 1, isCurrent: false });
  });

  test('also when the device has tried to send more writes than the other one', () => {
    const server = new SessionRules();
    const changes = [answerOf('q1', ['b']), stepTo(places.end), answerOf('q1', ['b'], places.end)];
    let phone = newQueue(server.record());
    for (const change of [...changes, stepTo(places.quiz), finish]) {
      // The writes that a page sends when it is hidden, offline.
      phone = takeAll(withChanges(phone, [change])).queue;
    }
    const restart = { place: places.intro, restart: true };
    drained(withChanges(newQueue(server.record()), [answerOf('q1', ['a']), restart]), server);
    const { queue: sending, body } = taken(phone);
    const { queue, lost } = settle(sending, server.write(body, start + 60_000));
    expect(lost?.answers).toMatchObject([{ widgetId: 'q1' }]);
    expect(queue).toMatchObject({ hold: 'conflict', writes: [], record: { attempt: 2 } });
  });

  test('a restart after an offline finish never clears the attempt begun on another device', () => {
    const server = new SessionRules();
    const restart = { place: places.intro, restart: true };
    const offline = withChanges(newQueue(server.record()), [answerOf('q1', ['b']), finish, restart]);
    const phone = takeAll(withChanges(offline, [answerOf('dial', 1)])).queue;
    drained(withChanges(newQueue(server.record()), [restart, answerOf('q2', ['b'])]), server);
    let queue = phone;
    while (waitTime(queue, Infinity) !== null) {
      const { queue: sending, body } = taken(queue);
      queue = afterAnswer(sending, server.write(body, start));
    }
    expect(queue.hold).toBe('conflict');
    drained(goOnHere(queue, places.quiz, versionId, contextAt(start)), server);
    expect(server.answers()).toEqual({ 'quiz/q2': ['b'], 'quiz/dial': 1 });
    expect(server.state.attempt).toBe(2);
  });

  test('two devices that have both restarted continue with the same attempt', () => {
    const server = new SessionRules();
    const restart = { place: places.intro, restart: true };
    const phone = withChanges(newQueue(server.record()), [restart, answerOf('q1', ['a'])]);
    drained(withChanges(newQueue(server.record()), [restart, answerOf('q2', ['b'])]), server);
    const { queue: sending, body } = taken(phone);
    const { queue, lost } = settle(sending, server.write(body, start));
    expect(lost).toBeUndefined();
    drained(goOnHere(queue, places.quiz, versionId, contextAt(start)), server);
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

  test("an answer is sent with its own step's position, even when another step is shown already", () => {
    const server = new SessionRules();
    const changes = [stepTo(places.end), answerOf('q1', ['a'], places.quiz), { place: places.end }];
    drained(withChanges(newQueue(), changes), server);
    expect(server.answers()).toEqual({ 'quiz/q1': ['a'] });
    expect(server.state.stepId).toBe('end');
  });

  test('steps without answers need one write', () => {
    const queue = withChanges(newQueue(), [stepTo(places.quiz), stepTo(places.end), stepTo(places.intro)]);
    expect(queue.writes).toMatchObject([{ place: places.intro, progressData: { visited: ['intro'] } }]);
  });

  test('a write that may have reached the server gets no additions', () => {
    const { queue } = taken(withChanges(newQueue(), [answerOf('q1', ['a'])]));
    expect(
      withChanges(queue, [answerOf('q1', ['b'])]).writes.map(({ answers }) => answers[0]?.answer),
    ).toEqual([['a'], ['b']]);
  });

  test('large answers are not combined into one write', () => {
    const queue = withChanges(newQueue(), [
      answerOf('q1', 'x'.repeat(200_000)),
      answerOf('q2', 'x'.repeat(200_000)),
    ]);
    expect(queue.writes).toHaveLength(2);
  });

  test('a day offline keeps one answer for each question', () => {
    let queue = newQueue();
    for (let time = 0; time < 500; time += 1) {
      const place = time % 2 === 0 ? places.quiz : places.end;
      queue = withChanges(queue, [stepTo(place), answerOf('q1', time, place)], start + time);
    }
    expect(queue.writes.length).toBeLessThan(100);
    const server = new SessionRules();
    drained(queue, server, start + 1000);
    expect(server.answers()).toEqual({ 'quiz/q1': 498, 'end/q1': 499 });
  });

  test('a variable keeps its value from elsewhere, unless this page has set it', () => {
    const record = { ...new SessionRules().record(), variableState: { a: 'theirs', b: 'theirs' } };
    const variables = { a: 'old', b: 'ours', c: 'initial' };
    const change = { place: places.intro, variables, setVariable: 'b' };
    const { body } = taken(withChanges(newQueue(record), [change]));
    expect(body.variableState).toEqual({ a: 'theirs', b: 'ours', c: 'initial' });
  });
});

describe('the time of sending', () => {
  test('answers are debounced, steps are sent at once', () => {
    const queue = withChanges(newQueue(), [answerOf('q1', ['a'])]);
    expect(waitTime(queue, start)).toBe(answerDelay);
    expect(waitTime(withChanges(queue, [stepTo(places.end)]), start)).toBe(0);
    expect(waitTime(hurry(queue, start), start)).toBe(0);
  });

  test('a first view is sent after the files of the step', () => {
    expect(waitTime(withChanges(newQueue(), [{ place: places.intro }]), start)).toBe(answerDelay);
  });

  test('one write is in flight at a time', () => {
    const { queue } = taken(withChanges(newQueue(), [answerOf('q1', ['a']), stepTo(places.end)]));
    expect(waitTime(queue, Infinity)).toBeNull();
  });

  test('backoff grows with failures, up to a minute, with jitter between browsers', () => {
    let queue = withChanges(newQueue(), [stepTo(places.end)]);
    const pauses: number[] = [];
    for (let failure = 0; failure < 9; failure += 1) {
      queue = settle(taken(queue).queue, { kind: 'failed', retryAfter: 0 }, start, 1).queue;
      pauses.push(waitTime(queue, start) ?? -1);
    }
    expect(pauses).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60].map((seconds) => seconds * 1000));
    const early = settle(taken(queue).queue, { kind: 'failed', retryAfter: 0 }, start, 0).queue;
    expect(waitTime(early, start)).toBe(30_000);
  });

  test('Retry-After is respected, and a returning network ends the backoff', () => {
    const { queue } = taken(withChanges(newQueue(), [stepTo(places.end)]));
    const paused = afterAnswer(queue, { kind: 'failed', retryAfter: 20_000 });
    expect(waitTime(paused, start)).toBe(20_000);
    expect(waitTime(hurry(paused, start), start)).toBe(0);
  });
});

describe('responses', () => {
  test('a write whose response was lost is sent again with the same idempotency key and counts once', () => {
    const server = new SessionRules();
    const first = taken(withChanges(newQueue(), [answerOf('q1', ['a'])]));
    server.write(first.body, start);
    const failed = afterAnswer(first.queue, { kind: 'failed', retryAfter: 0 });
    const done = drained(failed, server);
    expect(done).toMatchObject({ writes: [], hold: null, record: { revision: 1 } });
  });

  test('a conflict stops sending until the learner continues here; then both sides are kept', () => {
    const server = new SessionRules();
    const other = withChanges(newQueue(), [answerOf('q2', ['b'], places.quiz)]);
    drained(other, server);
    const { queue, body } = taken(withChanges(newQueue(), [answerOf('q1', ['a'])]));
    const held = afterAnswer(queue, server.write(body, start));
    expect(held.hold).toBe('conflict');
    expect(waitTime(withChanges(held, [stepTo(places.end)]), Infinity)).toBeNull();
    drained(goOnHere(held, places.end, versionId, contextAt(start)), server);
    expect(server.answers()).toEqual({ 'quiz/q2': ['b'], 'quiz/q1': ['a'] });
    expect(server.state.stepId).toBe('end');
  });

  test('the answer stored later wins, wherever it was given', () => {
    const server = new SessionRules();
    const other = withChanges(newQueue(), [answerOf('q1', 'theirs'), answerOf('q2', 'theirs')]);
    drained(other, server, start + 5000);
    let ours = withChanges(newQueue(), [answerOf('q1', 'ours')], start + 1000);
    ours = withChanges(ours, [answerOf('q2', 'ours')], start + 9000);
    const { queue, body } = taken(ours);
    const held = afterAnswer(queue, server.write(body, start + 9000));
    drained(goOnHere(held, places.quiz, versionId, contextAt(start + 9500)), server, start + 9500);
    expect(server.answers()).toEqual({ 'quiz/q1': 'theirs', 'quiz/q2': 'ours' });
  });

  test("the second answer to a question is kept although the server's clock is ahead", () => {
    const server = new SessionRules();
    const ahead = 600_000;
    const once = drained(withChanges(newQueue(), [answerOf('q1', 'first')]), server, start + ahead);
    // Another device writes something else.
    drained(withChanges(newQueue(server.record()), [answerOf('q2', 'theirs')]), server, start + ahead);
    const { queue, body } = taken(withChanges(once, [answerOf('q1', 'second')], start + 1000));
    const held = afterAnswer(queue, server.write(body, start + ahead));
    drained(goOnHere(held, places.quiz, versionId, contextAt(start)), server);
    expect(server.answers()).toEqual({ 'quiz/q1': 'second', 'quiz/q2': 'theirs' });
  });

  test('a restart does not clear later changes from elsewhere', () => {
    const server = new SessionRules();
    drained(withChanges(newQueue(), [answerOf('q2', 'theirs')]), server);
    const { queue, body } = taken(withChanges(newQueue(), [{ place: places.intro, restart: true }]));
    const held = afterAnswer(queue, server.write(body, start));
    drained(goOnHere(held, places.intro, versionId, contextAt(start)), server);
    expect(server.answers()).toEqual({ 'quiz/q2': 'theirs' });
  });

  test('an answer that the server rejects does not affect the others', () => {
    const server = new SessionRules();
    const changes = [answerOf('q1', ['a']), answerOf('no-such-widget', 1), answerOf('q2', ['b'])];
    let queue = withChanges(newQueue(), [...changes, stepTo(places.quiz)]);
    const lost: unknown[] = [];
    while (waitTime(queue, Infinity) !== null) {
      const { queue: sending, body } = taken(queue);
      const settled = settle(sending, server.write(body, start));
      ({ queue } = settled);
      if (settled.lost) lost.push(...settled.lost.answers.map(({ widgetId }) => widgetId));
    }
    expect(lost).toEqual(['no-such-widget']);
    expect(server.answers()).toEqual({ 'quiz/q1': ['a'], 'quiz/q2': ['b'] });
    expect(server.record().progressData).toEqual({ visited: ['quiz'] });
  });

  test('an expired token keeps everything, and sending continues with a new one', () => {
    const server = new SessionRules();
    const { queue } = taken(withChanges(newQueue(), [answerOf('q1', ['a'])]));
    const held = withChanges(afterAnswer(queue, { kind: 'expired' }), [stepTo(places.end)]);
    expect(waitTime(held, Infinity)).toBeNull();
    drained(renewed(held, start), server);
    expect(server.answers()).toEqual({ 'quiz/q1': ['a'] });
    expect(server.state.stepId).toBe('end');
  });
});

describe('when the page closes', () => {
  test('everything is sent at once, and sending it again changes nothing', () => {
    const server = new SessionRules();
    const changes = [answerOf('q1', ['a']), stepTo(places.end), answerOf('q1', ['b'], places.end)];
    const { queue, bodies } = takeAll(withChanges(newQueue(), changes));
    for (const body of bodies) expect(server.write(body, start).kind).toBe('saved');
    expect(drained(queue, server)).toMatchObject({ hold: null, writes: [] });
    expect(server.state.revision).toBe(bodies.length);
    expect(server.answers()).toEqual({ 'quiz/q1': ['a'], 'end/q1': ['b'] });
  });

  test('nothing is sent while the queue is on hold', () => {
    expect(takeAll(handOver(withChanges(newQueue(), [stepTo(places.end)]))).bodies).toEqual([]);
  });
});

test('two tabs that open a new lesson at the same time do not conflict', () => {
  const server = new SessionRules();
  const look = withChanges(newQueue(), [{ place: places.intro }]);
  drained(look, server);
  const { queue, body } = taken(look);
  expect(afterAnswer(queue, server.write(body, start))).toMatchObject({ hold: null, writes: [] });
});

test('a response without a request changes nothing', () => {
  const queue = newQueue();
  expect(afterAnswer(queue, { kind: 'failed', retryAfter: 0 })).toBe(queue);
  expect(takeNext(queue)).toBeUndefined();
});
