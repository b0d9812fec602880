import { EventEmitter } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { LargeTexts } from '../../api/http/large-texts.ts';

const limits = { smallBytes: 10, bytesPerSecond: 1e9, burstBytes: 1e9 };

/** A response that stays open until the test closes it. */
function openResponse() {
  const response = Object.assign(new EventEmitter(), { closed: false });
  return response;
}

/** Work for one organization that runs until the test ends it. */
function startWork(texts: LargeTexts, organizationId: string, bytes = 100) {
  const state = { hasBegun: false, end: () => undefined as void };
  const ended = new Promise<void>((resolve) => (state.end = resolve));
  const response = openResponse();
  const work = () => {
    state.hasBegun = true;
    return ended;
  };
  const done = texts.share(organizationId, response as never).run(bytes, work);
  return Object.assign(state, { done, close: () => response.emit('close') });
}

const tooMany = { code: 'TOO_MANY_REQUESTS', retryAfterSeconds: 5 };

describe('the large-text limiter', () => {
  test('gives one organization all slots but the last, which stays free for an organization without one', async () => {
    const texts = new LargeTexts({ ...limits, concurrency: 3, concurrencyPerOrganization: 2 });
    const greedy = Array.from({ length: 4 }, () => startWork(texts, 'greedy'));
    await nextTurn();
    expect(greedy.map(({ hasBegun }) => hasBegun)).toEqual([true, true, false, false]);
    const other = startWork(texts, 'other');
    await nextTurn();
    expect(other.hasBegun).toBe(true);
    for (const work of [...greedy, other]) work.end();
    await Promise.all([...greedy, other].map(({ done }) => done));
  });

  test('queues work in a bounded queue for each organization', async () => {
    const texts = new LargeTexts({ ...limits, concurrency: 1, waitingPerOrganization: 1 });
    const [running, waiting, refused] = Array.from({ length: 3 }, () => startWork(texts, 'greedy'));
    await expect(refused?.done).rejects.toMatchObject(tooMany);
    const other = startWork(texts, 'other');
    expect([running, waiting, other].map((work) => work?.hasBegun)).toEqual([true, false, false]);
    running?.end();
    await running?.done;
    await nextTurn();
    // The organization that was served longest ago comes first, even if its request came later.
    expect([waiting?.hasBegun, other.hasBegun]).toEqual([false, true]);
    other.end();
    waiting?.end();
    await Promise.all([other.done, waiting?.done]);
  });

  test('counts memory until the response is closed, and gives up waiting after a timeout', async () => {
    const texts = new LargeTexts({ ...limits, textBytesPerOrganization: 250, maxWaitMs: 20 });
    const sent = [startWork(texts, 'a'), startWork(texts, 'a')];
    for (const work of sent) work.end();
    await Promise.all(sent.map(({ done }) => done));
    await expect(startWork(texts, 'a').done).rejects.toMatchObject(tooMany);
    sent[0]?.close();
    const next = startWork(texts, 'a');
    await nextTurn();
    expect(next.hasBegun).toBe(true);
    next.end();
    await next.done;
  });

  test('runs work on small texts at once', async () => {
    const texts = new LargeTexts({ ...limits, concurrency: 1 });
    const running = startWork(texts, 'a');
    const small = startWork(texts, 'a', 10);
    expect(small.hasBegun).toBe(true);
    for (const work of [small, running]) work.end();
    await Promise.all([small.done, running.done]);
  });
});

/** A body whose arrival the test controls. */
function beginBody(texts: LargeTexts, organizationId: string, learner: string, announcedBytes = 0) {
  const response = openResponse();
  const body: { grow?: (bytes: number) => void; end?: () => void } = {};
  const read = (onArrival: (bytes: number) => void) =>
    new Promise<Buffer>((resolve, reject) => {
      body.end = () => resolve(Buffer.alloc(0));
      body.grow = (bytes) => {
        try {
          onArrival(bytes);
        } catch (error) {
          reject(error instanceof Error ? error : new Error('no error'));
        }
      };
    });
  const done = texts.share(organizationId, response as never).receive({ learner, announcedBytes, read });
  return {
    done,
    grow: (bytes: number) => body.grow?.(bytes),
    end: () => body.end?.(),
    close: () => response.emit('close'),
  };
}

test('received bodies count until their response is closed, and each organization has room for one', async () => {
  const texts = new LargeTexts({ ...limits, bodyBytes: 150, bodyBytesPerOrganization: 120 });
  const first = beginBody(texts, 'a', 'one');
  first.grow(100);
  first.end();
  await first.done;
  await expect(beginBody(texts, 'a', 'two', 100).done).rejects.toMatchObject(tooMany);
  const ofOther = beginBody(texts, 'b', 'three', 100);
  ofOther.grow(100);
  first.close();
  const next = beginBody(texts, 'a', 'two', 100);
  next.grow(100);
  for (const body of [ofOther, next]) body.end();
  await Promise.all([ofOther.done, next.done]);
});

test('a body counts with the bytes received so far, and a rejected one frees its room at once', async () => {
  const texts = new LargeTexts({ ...limits, bodyBytesPerOrganization: 150, bodyBytesPerLearner: 100 });
  const [first, second] = [beginBody(texts, 'a', 'one', 100), beginBody(texts, 'a', 'one', 100)];
  const ofAnother = beginBody(texts, 'a', 'another', 1000);
  first.grow(60);
  second.grow(30);
  ofAnother.grow(60);
  second.grow(41);
  await expect(second.done).rejects.toThrow('by this learner');
  first.grow(80);
  first.grow(91);
  await expect(first.done).rejects.toThrow('Too much data requested at once');
  ofAnother.grow(1000);
  ofAnother.end();
  await ofAnother.done;
});
