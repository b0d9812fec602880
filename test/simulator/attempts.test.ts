import { expect, test } from 'vitest';
import type { LineItem, User } from '../../simulator/model.ts';
import { withPathSuffix } from '../../simulator/addresses.ts';
import { canvasSubmission, mediaType, scope } from '../../simulator/vocabulary.ts';
import { useSimulatorLab } from './simulator-lab.ts';

/* Platforms that count submissions, and compare timestamps finely. */

const lab = useSimulatorLab({ attempts: 2, timestamps: 'milliseconds' });
const never = { [canvasSubmission]: { new_submission: false } };

function addItem(): LineItem {
  const { simulator, scripted } = lab;
  const link = scripted.link({
    course: simulator.addCourse(),
    lineItem: { label: 'Tides', scoreMaximum: 10 },
  });
  return simulator.lineItemsOf(link)[0] as LineItem;
}

async function statusOf(item: LineItem, { id: userId }: User, score: object): Promise<number> {
  const response = await fetch(withPathSuffix(lab.simulator.addressOf(item), '/scores'), {
    method: 'POST',
    headers: {
      authorization: `Bearer ${await lab.scripted.token(scope.score)}`,
      'content-type': mediaType.score,
    },
    body: JSON.stringify({
      ...{ userId, activityProgress: 'Completed', gradingProgress: 'FullyGraded' },
      ...{ scoreGiven: 1, scoreMaximum: 1, timestamp: new Date().toISOString() },
      ...score,
    }),
  });
  return response.status;
}

test('scores count as submissions, whatever they say of the progress, unless the tool says otherwise', async () => {
  const [item, user] = [addItem(), lab.simulator.addUser()];
  const begun = { activityProgress: 'Initialized', gradingProgress: 'NotReady', scoreGiven: null };
  expect(await statusOf(item, user, begun)).toBe(200);
  expect(await statusOf(item, user, never)).toBe(200);
  expect(await statusOf(item, user, { [canvasSubmission]: { new_submission: true } })).toBe(200);
  expect(await statusOf(item, user, {})).toBe(422);
  expect(await statusOf(item, user, never)).toBe(200);
  expect(lab.simulator.scoresOf(item).map(({ newSubmission }) => newSubmission)).toEqual([
    true,
    false,
    true,
    false,
  ]);
});

test('attempts are those of one user at one line item', async () => {
  const [item, user] = [addItem(), lab.simulator.addUser()];
  for (const status of [200, 200, 422]) expect(await statusOf(item, user, {})).toBe(status);
  expect(await statusOf(item, lab.simulator.addUser(), {})).toBe(200);
  expect(await statusOf(addItem(), user, {})).toBe(200);
});

test('a score may be newer by a millisecond where the platform looks as closely', async () => {
  const [item, user] = [addItem(), lab.simulator.addUser()];
  const at = (milliseconds: number) => ({ timestamp: new Date(milliseconds).toISOString() });
  expect(await statusOf(item, user, at(1_500))).toBe(200);
  expect(await statusOf(item, user, at(1_500))).toBe(409);
  expect(await statusOf(item, user, at(1_501))).toBe(200);
});
