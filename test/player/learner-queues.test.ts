import { expect, test } from 'vitest';
import { LearnerQueues } from '../../api/player/learner-queues.ts';
import type { QueueSlot } from '../../api/player/learner-queues.ts';

const many = { perSecond: 1000, burst: 1000 };

test('a learner has two active requests and a bounded queue; more get a retry time', async () => {
  const queues = new LearnerQueues({ concurrency: 2, waiting: 1, ...many });
  const [first, second, third] = [await queues.enter('a'), await queues.enter('a'), await queues.enter('a')];
  await first.waitForTurn();
  await second.waitForTurn();
  let hasTurn = false;
  const turn = third.waitForTurn().then(() => (hasTurn = true));
  await expect(queues.enter('a')).rejects.toMatchObject({ code: 'TOO_MANY_REQUESTS', retryAfterSeconds: 2 });
  expect(hasTurn).toBe(false);
  await (await queues.enter('another learner')).waitForTurn();
  first.workDone();
  first.leave();
  await turn;
  expect(hasTurn).toBe(true);
});

test('a paused request yields to the next one, and continues after it', async () => {
  const queues = new LearnerQueues({ concurrency: 1, waiting: 1, ...many });
  const [early, missing] = [await queues.enter('a'), await queues.enter('a')];
  await early.waitForTurn();
  const order: string[] = [];
  const paused = early.yieldTurn(60_000).then(() => order.push('early'));
  await missing.waitForTurn();
  order.push('missing');
  missing.workDone();
  missing.leave();
  await paused;
  expect(order).toEqual(['missing', 'early']);
});

test('leaving a queue twice frees its slot once', async () => {
  const queues = new LearnerQueues({ concurrency: 1, waiting: 0, ...many });
  for (let round = 0; round < 3; round += 1) {
    const slot = await queues.enter('a');
    await slot.waitForTurn();
    slot.leave();
    slot.leave();
    slot.workDone();
  }
  await expect(queues.enter('a')).resolves.toBeDefined();
  await expect(queues.enter('a')).rejects.toMatchObject({ code: 'TOO_MANY_REQUESTS' });
});

test('clients that disconnect at any time release their slots once, and the concurrency limit holds', async () => {
  const queues = new LearnerQueues({ concurrency: 2, waiting: 14, ...many });
  let running = 0;
  const work = async (slot: QueueSlot, pauses: boolean) => {
    await slot.waitForTurn();
    if (pauses) await slot.yieldTurn(1);
    running += 1;
    expect(running).toBeLessThanOrEqual(2);
    await new Promise(setImmediate);
    running -= 1;
    slot.workDone();
  };
  for (let round = 0; round < 20; round += 1) {
    const slots = await Promise.all(Array.from({ length: 16 }, () => queues.enter('a')));
    const works = slots.map((slot, index) => work(slot, index % 3 === 0));
    for (const [index, slot] of slots.entries()) {
      if (index % 4 === round % 4) await new Promise(setImmediate);
      slot.leave();
    }
    await Promise.all(works);
  }
  const slot = await queues.enter('a');
  slot.leave();
  await expect(slot.waitForTurn()).rejects.toMatchObject({ code: 'BAD_REQUEST' });
});
