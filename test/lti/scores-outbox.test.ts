import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { registerLineItem } from '../../shared/lti/scores/register-line-item.ts';
import { scoreValuesOf } from '../../shared/lti/scores/grade.ts';
import { scoresUrl } from '../../shared/lti/scores/send.ts';
import { saveResourceLink } from '../../shared/models/lti-resource-link.ts';
import { claimScore } from '../../shared/models/lti-score-changes.ts';
import type { LtiScore } from '../../shared/models/lti-score.ts';
import { Player } from '../player/player-lessons.ts';
import { tokenOf } from './support/launch-lab.ts';
import { completed, useScoreLab } from './support/score-lab.ts';

/* What the outbox stores and when a score is due; scores-send.test.ts covers sending. */

const lab = useScoreLab();

test('a launch of a link without a line item or the scope to send scores makes no outbox row', async () => {
  const { resourceLink, learner } = await lab.addLearner();
  const links = [
    { ...resourceLink, scopes: [] },
    { ...resourceLink, lineItemUrl: null, lineItemsUrl: null },
    { ...resourceLink, lineItemUrl: null, scopes: resourceLink.scopes.slice(0, 1) },
    { ...resourceLink, lineItemUrl: null, withoutColumn: true },
  ];
  for (const link of links) {
    expect(await registerLineItem(lab.harness.db, { ...link, _id: randomUUID() }, learner.ltiUserId)).toBe(
      false,
    );
  }
  expect(await lab.harness.db.ltiScores.countDocuments({ ltiUserId: learner.ltiUserId })).toBe(1);
});

test('a launch or an unfinished lesson makes no score due, so no grade in the platform is cleared', async () => {
  const learner = await lab.addLearner();
  expect(await lab.rowOf(learner)).toMatchObject({ state: 'idle', wanted: null, sent: null });
  await lab.tell(learner, { status: 'not_started', maxScore: 100 });
  await lab.tell(learner, { status: 'in_progress', score: 30, maxScore: 100 });
  expect(await lab.rowOf(learner)).toMatchObject({ state: 'idle', wanted: null, sent: null });
  expect(await lab.send(learner)).toBeNull();
  await lab.tell(learner, completed(30));
  expect(await lab.rowOf(learner)).toMatchObject({ state: 'waiting', wanted: { scoreGiven: 30 } });
});

test('a finish and a launch at the same time lose no grade', async () => {
  const first = await lab.addLearner();
  await lab.tell(first, { status: 'in_progress', score: 30, maxScore: 100 });
  for (let points = 1; points <= 10; points += 1) {
    const [second] = await Promise.all([lab.addLinkFor(first), lab.tell(first, completed(points))]);
    expect(await lab.rowOf(second)).toMatchObject({ state: 'waiting', wanted: { scoreGiven: points } });
  }
});

test('a finish in the first write of a learner reaches a link that is launched at the same time', async () => {
  for (let round = 0; round < 10; round += 1) {
    const first = await lab.addLearner();
    const [second] = await Promise.all([lab.addLinkFor(first), lab.tell(first, completed(40))]);
    expect(await lab.rowOf(second)).toMatchObject({ state: 'waiting', wanted: { scoreGiven: 40 } });
  }
});

test('a lesson launched from a second link reports past and future scores to it, too', async () => {
  const first = await lab.addLearner();
  await lab.tell(first, completed(40));
  const second = await lab.addLinkFor(first);
  expect(await lab.rowOf(second)).toMatchObject({ state: 'waiting', wanted: { scoreGiven: 40 } });
  await lab.tell(first, completed(70));
  for (const learner of [first, second]) {
    expect(await lab.rowOf(learner)).toMatchObject({ wanted: { scoreGiven: 70, revision: 2 } });
  }
});

test("a link changed to another lesson reports that lesson's record from its next launch on", async () => {
  const { db } = lab.harness;
  const before = await lab.addLearner();
  await lab.tell(before, completed(40));
  const lessonId = randomUUID();
  const { _id, ...link } = before.resourceLink;
  const resourceLink = await saveResourceLink(db, { ...link, lessonId });
  expect(resourceLink._id).toBe(_id);
  await registerLineItem(db, resourceLink, before.learner.ltiUserId);
  expect(await lab.rowOf(before)).toMatchObject({ state: 'idle', wanted: null, lessonId });
  await lab.tell(before, completed(80));
  expect(await lab.rowOf(before)).toMatchObject({ wanted: null });
  await lab.tell({ ...before, learner: { ...before.learner, lessonId } }, completed(5));
  expect(await lab.rowOf(before)).toMatchObject({ state: 'waiting', wanted: { scoreGiven: 5, revision: 1 } });
});

test('exactly one concurrent claim gets a row, and each later claim a later timestamp, whatever the clock says', async () => {
  const { db } = lab.harness;
  const learner = await lab.addLearner();
  await lab.tell(learner, completed(40));
  const { _id: id } = await lab.rowOf(learner);
  const claims = await Promise.all(Array.from({ length: 20 }, () => claimScore(db, { _id: id })));
  expect(claims.filter((claim) => claim !== null)).toHaveLength(1);

  const ahead = new Date(Date.now() + 3600_000);
  await db.ltiScores.updateOne({ _id: id }, { $set: { lastTimestamp: ahead } });
  for (let seconds = 1; seconds <= 3; seconds += 1) {
    await lab.passTime();
    const claim = await claimScore(db, { _id: id });
    expect(claim?.lastTimestamp).toEqual(new Date(ahead.getTime() + seconds * 1000));
  }
});

test('a score that the platform has is not sent again, unless another one may have reached it since', async () => {
  const { simulator } = lab;
  const learner = await lab.addLearner();
  await lab.tell(learner, completed(40));
  await lab.send(learner);
  await lab.tell(learner, completed(40));
  expect(await lab.rowOf(learner)).toMatchObject({ state: 'idle', wanted: { revision: 1 } });

  await lab.tell(learner, completed(60));
  await lab.tell(learner, completed(40));
  expect(await lab.rowOf(learner)).toMatchObject({ state: 'idle' });

  // The response to 60 is lost, although the platform accepted it.
  simulator.fail('scores', { drop: true, afterwards: true });
  await lab.tell(learner, completed(60));
  expect(await lab.send(learner)).toBe('network');
  await lab.tell(learner, completed(40));
  expect(await lab.rowOf(learner)).toMatchObject({ state: 'waiting' });
  expect(await lab.send(learner)).toBe('sent');
  expect(lab.taken(learner).map(({ scoreGiven }) => scoreGiven)).toEqual([40, 60, 40]);
});

test('a lesson that was never finished has no score', () => {
  expect(scoreValuesOf({ finished: null })).toBeNull();
});

test.each([
  ['points are scaled to 100', 2, 3, 66.6667],
  ['zero is a score', 0, 3, 0],
  ['no answers to scored questions give zero', null, 3, 0],
  ['a lesson without scored questions gives full marks', null, null, 100],
  ['a maximum of 0 counts as no scored questions', 0, 0, 100],
])('finished lesson: %s', (_title, score, maxScore, scoreGiven) => {
  for (const isCurrent of [true, false]) {
    const finishedAt = new Date();
    const finished = { at: finishedAt, score, maxScore, isCurrent };
    expect(scoreValuesOf({ finished })).toEqual({ scoreGiven, scoreMaximum: 100, finishedAt });
  }
});

test.each([
  ['https://a.example/items/1', 'https://a.example/items/1/scores'],
  ['https://a.example/items/1/', 'https://a.example/items/1/scores'],
  ['https://a.example/items/1/lineitem?type_id=4', 'https://a.example/items/1/lineitem/scores?type_id=4'],
  ['https://a.example/?item=a/b', 'https://a.example/scores?item=a/b'],
])('the scores of %s are at %s', (lineItem, scores) => {
  expect(scoresUrl(lineItem)).toBe(scores);
});

test('a learner who starts over keeps the grade until the next finish, while integrators read the new attempt', async () => {
  const user = lab.simulator.addUser();
  const link = lab.addLink({ lineItem: { label: 'A lesson', scoreMaximum: 10 } });
  const player = new Player(lab.address, lab.version, tokenOf(await lab.launch({ link, user })) ?? '');
  /** Saves a write; returns the session, and the score that the gradebook should get. */
  const write = async (fields: object) => {
    const session = await player.write(fields);
    const row = await lab.harness.db.ltiScores.findOne({ ltiUserId: user.id }).lean<LtiScore>();
    return { session, grade: row?.wanted?.scoreGiven ?? null };
  };
  const last = { currentSectionIndex: 1 };
  const [q2, q3] = ['2', '3'].map((id) => ({ stepId: `s${id}`, widgetId: `q${id}`, answer: ['b'] }));
  expect(await write({ ...last, items: [q2, q3] })).toMatchObject({ grade: null });
  expect(await write({ ...last, completed: true })).toMatchObject({ grade: 100 });
  expect(await write({ restart: true })).toMatchObject({
    session: { status: 'completed', score: null },
    grade: 100,
  });
  expect(await write({ ...last, items: [q3] })).toMatchObject({ session: { score: 33.3333 }, grade: 100 });
  expect(await write({ ...last, completed: true })).toMatchObject({ grade: 33.3333 });
  expect(await write({ ...last, items: [q2] })).toMatchObject({ grade: 100 });
});
