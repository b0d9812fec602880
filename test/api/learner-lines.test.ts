import { expect, test } from 'vitest';
import { LearnerLines } from '../../api/player/learner-lines.ts';

const many = { perSecond: 1000, burst: 1000 };

test('of one learner two requests have their turn, so many wait, and the next is told when to come again', async () => {
  const lines = new LearnerLines({ atOnce: 2, waiting: 1, ...many });
  const [first, second, third] = [await lines.enter('a'), await lines.enter('a'), await lines.enter('a')];
  await first.turn();
  await second.turn();
  let hasTurn = false;
  const turn = third.turn().then(() => (hasTurn = true));
  await expect(lines.enter('a')).rejects.toMatchObject({ code: 'TOO_MANY_REQUESTS', retryAfterSeconds: 2 });
  expect(hasTurn).toBe(false);
  await (await lines.enter('another learner')).turn();
  first.leave();
  await turn;
  expect(hasTurn).toBe(true);
});

test('a request that pauses gives its turn to the one behind it, and goes on when that has ended', async () => {
  const lines = new LearnerLines({ atOnce: 1, waiting: 1, ...many });
  const [early, missing] = [await lines.enter('a'), await lines.enter('a')];
  await early.turn();
  const order: string[] = [];
  const paused = early.pause(60_000).then(() => order.push('early'));
  await missing.turn();
  order.push('missing');
  missing.leave();
  await paused;
  expect(order).toEqual(['missing', 'early']);
});

test('places that were left, each once, are free again', async () => {
  const lines = new LearnerLines({ atOnce: 1, waiting: 0, ...many });
  for (let round = 0; round < 3; round += 1) {
    const place = await lines.enter('a');
    await place.turn();
    place.leave();
    place.leave();
  }
  await expect(lines.enter('a')).resolves.toBeDefined();
  await expect(lines.enter('a')).rejects.toMatchObject({ code: 'TOO_MANY_REQUESTS' });
});
