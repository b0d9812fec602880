import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import type { LtiScore } from '../../shared/models/lti-score.ts';
import { answer } from '../support/origin.ts';
import { useOrigin } from '../support/use.ts';
import { waitFor } from '../support/wait-for.ts';
import { completed, useScoreLab } from './support/score-lab.ts';
import type { GradedLearner } from './support/score-lab.ts';

/* Scores for several platforms at once: no platform delays another. */

/** Makes the origin respond to the line items of all platforms. */
const origin = useOrigin();

const lab = useScoreLab(() => [origin.host]);

/** Creates a learner who has finished, for a new or an existing platform with a line item at the origin. */
async function addFinisher(name: string, platformId?: string): Promise<GradedLearner> {
  const graded = await lab.addLearner({ lineItemUrl: origin.url(`/${name}`) }, null);
  const own = platformId ?? (await lab.register(lab.address)).platform._id;
  await lab.harness.db.ltiScores.updateOne(
    { _id: (await lab.rowOf(graded))._id },
    { $set: { platformId: own } },
  );
  const moved = { ...graded, learner: { ...graded.learner, platformId: own } };
  await lab.tell(moved, completed(10));
  return moved;
}

/** Adds this many learners of the same link, who finished at the same time. */
async function addOthers(graded: GradedLearner, count: number): Promise<void> {
  const row = await lab.rowOf(graded);
  const others = Array.from({ length: count }, () => ({
    ...row,
    _id: randomUUID(),
    ltiUserId: randomUUID(),
  }));
  await lab.harness.db.ltiScores.insertMany(others);
}

/** Makes a line item respond only after a request for another one. */
function answerBehind(name: string, other: string): void {
  let asked: (value?: unknown) => void;
  const otherWasAsked = new Promise((resolve) => (asked = resolve));
  origin.script(`/${name}/scores`, async (request, response) => {
    await otherWasAsked;
    await answer(200)(request, response);
  });
  origin.script(`/${other}/scores`, (request, response) => {
    asked();
    return answer(200)(request, response);
  });
}

const pathsOf = (): string[] => origin.log.map(({ path }) => path);

test("a slow, healthy platform with many rows does not delay another platform's row", async () => {
  const slow = await addFinisher('slow');
  await addOthers(slow, 11);
  await addFinisher('quick');
  await lab.passTime();
  answerBehind('slow', 'quick');
  const { sender, outcomes } = lab.createSender();
  await sender.sendDue();
  expect(outcomes).toEqual(Array.from({ length: 13 }, () => 'sent'));
  expect(pathsOf().slice(0, 5)).toContain('/quick/scores');
});

test("a row that becomes due while a slow platform's rows are sent does not wait for them", async () => {
  const slow = await addFinisher('slow-again');
  await addOthers(slow, 11);
  answerBehind('slow-again', 'later');
  await lab.passTime();
  const { sender, outcomes } = lab.createSender();
  const first = sender.sendDue();
  await waitFor('the slow one', () => pathsOf().includes('/slow-again/scores'));
  await addFinisher('later');
  await sender.sendDue();
  await first;
  expect(outcomes).toEqual(Array.from({ length: 13 }, () => 'sent'));
});

test('rows of a platform in backoff are neither claimed nor polled', async () => {
  const { db } = lab.harness;
  const down = await addFinisher('down');
  const { platformId } = await lab.rowOf(down);
  await addOthers(down, 199);
  await lab.passTime();
  origin.script('/down/scores', answer(503));
  const { sender, outcomes } = lab.createSender();
  await sender.sendDue();
  const tries = outcomes.length;
  expect(tries).toBeLessThanOrEqual(4);
  expect(await leftAlone(platformId)).toHaveLength(200 - tries);

  await addFinisher('up');
  origin.script('/up/scores', answer(200));
  const native = db.connection.getClient().db(db.connection.name);
  await native.command({ profile: 2 });
  await sender.sendDue();
  await native.command({ profile: 0 });
  expect(outcomes.slice(tries)).toEqual(['sent']);
  const queries = await native
    .collection<{ docsExamined?: number; keysExamined?: number }>('system.profile')
    .find({ ns: `${db.connection.name}.ltiScores` })
    .toArray();
  const sumOf = (field: 'docsExamined' | 'keysExamined') =>
    queries.reduce((sum, query) => sum + (query[field] ?? 0), 0);
  expect(queries.length).toBeGreaterThan(2);
  expect(sumOf('docsExamined')).toBeLessThan(20);
  expect(sumOf('keysExamined')).toBeLessThan(20);
});

/** Returns its rows that were never claimed. */
function leftAlone(platformId: string): Promise<LtiScore[]> {
  return lab.harness.db.ltiScores.find({ platformId, lastTimestamp: null }).lean<LtiScore[]>();
}
