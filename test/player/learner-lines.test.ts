import { expect, test } from 'vitest';
import { LearnerLines } from '../../api/player/learner-lines.ts';
import type { LinePlace } from '../../api/player/learner-lines.ts';

const many = { perSecond: 1000, burst: 1000 };

test('a learner has two active requests and a bounded queue; more get a retry time', async () => {
  const lines = new LearnerLines({ atOnce: 2, waiting: 1, ...many });
  const [first, second, third] = [await lines.enter('a'), await lines.enter('a'), await lines.enter('a')];
  await first.turn();
  await second.turn();
  let hasTurn = false;
  const turn = third.turn().then(() => (hasTurn = true));
  await expect(lines.enter('a')).rejects.toMatchObject({ code: 'TOO_MANY_REQUESTS', retryAfterSeconds: 2 });
  expect(hasTurn).toBe(false);
  await (await lines.enter('another learner')).turn();
  first.done();
  first.leave();
  await turn;
  expect(hasTurn).toBe(true);
});

test('a paused request yields to the next one, and continues after it', async () => {
  const lines = new LearnerLines({ atOnce: 1, waiting: 1, ...many });
  const [early, missing] = [await lines.enter('a'), await lines.enter('a')];
  await early.turn();
  const order: string[] = [];
  const paused = early.pause(60_000).then(() => order.push('early'));
  await missing.turn();
  order.push('missing');
  missing.done();
  missing.leave();
  await paused;
  expect(order).toEqual(['missing', 'early']);
});

test('leaving a queue twice frees its slot once', async () => {
  const lines = new LearnerLines({ atOnce: 1, waiting: 0, ...many });
  for (let round = 0; round < 3; round += 1) {
    const place = await lines.enter('a');
    await place.turn();
    place.leave();
    place.leave();
    place.done();
  }
  await expect(lines.enter('a')).resolves.toBeDefined();
  await expect(lines.enter('a')).rejects.toMatchObject({ code: 'TOO_MANY_REQUESTS' });
});

test('clients that disconnect at any time release their slots once, and the concurrency limit holds', async () => {
  const lines = new LearnerLines({ atOnce: 2, waiting: 14, ...many });
  let running = 0;
  const work = async (place: LinePlace, pauses: boolean) => {
    await place.turn();
    if (pauses) await place.pause(1);
    running += 1;
    expect(running).toBeLessThanOrEqual(2);
    await new Promise(setImmediate);
    running -= 1;
    place.done();
  };
  for (let round = 0; round < 20; round += 1) {
    const places = await Promise.all(Array.from({ length: 16 }, () => lines.enter('a')));
    const works = places.map((place, index) => work(place, index % 3 === 0));
    for (const [index, place] of places.entries()) {
      if (index % 4 === round % 4) await new Promise(setImmediate);
      place.leave();
    }
    await Promise.all(works);
  }
  const place = await lines.enter('a');
  place.leave();
  await expect(place.turn()).rejects.toMatchObject({ code: 'BAD_REQUEST' });
});
