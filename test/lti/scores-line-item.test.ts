import { describe, expect, test } from 'vitest';
import type { LineItem } from '../../simulator/model.ts';
import { gradeScopes } from '../../shared/lti/claims.ts';
import type { LtiLineItem } from '../../shared/models/lti-line-item.ts';
import { saveResourceLink } from '../../shared/models/lti-resource-link.ts';
import { scoresUrl } from '../../shared/lti/scores/send.ts';
import { longestBlock, maxBlockMs } from '../support/longest-block.ts';
import { answer } from '../support/origin.ts';
import { useOrigin } from '../support/use.ts';
import { completed, useScoreLab } from './support/score-lab.ts';
import type { GradedLearner } from './support/score-lab.ts';

/* Links whose launches name no line item, but whose line items can be found and created. */

/** Another server of the platform. */
const origin = useOrigin();

const lab = useScoreLab(() => [origin.host]);

const withoutItem = (changes = {}) => lab.addLearner(changes, null);
const itemsOf = ({ link }: GradedLearner) => lab.simulator.lineItemsOf(link);
const scoresOf = (item: LineItem | undefined, { learner }: GradedLearner) =>
  item === undefined ? [] : lab.simulator.scoresOf(item).filter(({ userId }) => userId === learner.ltiUserId);

test("a link without a line item gets one with its lesson's title, and keeps it", async () => {
  const { lessonId } = lab.version;
  const learner = await withoutItem({ lessonId });
  const graded = { ...learner, learner: { ...learner.learner, lessonId } };
  for (const score of [10, 20]) {
    await lab.tell(graded, completed(score));
    expect(await lab.send(graded)).toBe('sent');
  }
  const [item, ...others] = itemsOf(graded);
  expect(others).toEqual([]);
  expect(item).toMatchObject({ label: 'A lesson', scoreMaximum: 100, tag: 'lectern', resourceId: lessonId });
  expect(scoresOf(item, graded)).toMatchObject([{ scoreGiven: 10 }, { scoreGiven: 20 }]);
});

test('a score for a link without a line item or the scope to create one is not sent and not failed', async () => {
  const { simulator, tool } = lab;
  const scopes = [gradeScopes.score, gradeScopes.lineItemReadonly];
  const graded = await withoutItem({ scopes });
  await lab.tell(graded, completed(10));
  expect(await lab.send(graded)).toBe('no_line_item');
  expect(await lab.rowOf(graded)).toMatchObject({ state: 'idle', failure: null, sent: null });
  expect(itemsOf(graded)).toEqual([]);
  const owner = { course: simulator.sample.course, tool, link: graded.link };
  const item = simulator.addLineItem(owner, { label: 'Of the teacher', scoreMaximum: 5 });
  await lab.launchAs(graded);
  expect(await lab.send(graded)).toBe('sent');
  await lab.launchAs(graded);
  expect(await lab.rowOf(graded)).toMatchObject({ state: 'idle' });
  await lab.tell(graded, completed(20));
  expect(await lab.send(graded)).toBe('sent');
  expect(scoresOf(item, graded)).toMatchObject([{ scoreGiven: 10 }, { scoreGiven: 20 }]);
});

test('a lesson selected without a line item creates none, but uses one that the platform names', async () => {
  const { simulator, tool, harness } = lab;
  const graded = await withoutItem();
  await lab.tell(graded, completed(10));
  const { _id, ...link } = graded.resourceLink;
  const withoutColumn = await saveResourceLink(harness.db, { ...link, withoutColumn: true });
  expect(withoutColumn._id).toBe(_id);
  expect(await lab.send(graded)).toBe('no_line_item');
  expect(await lab.rowOf(graded)).toMatchObject({ state: 'idle' });
  expect(itemsOf(graded)).toEqual([]);
  const owner = { course: simulator.sample.course, tool, link: graded.link };
  const item = simulator.addLineItem(owner, { label: 'Of the teacher', scoreMaximum: 5 });
  const lineItemUrl = simulator.urlOf(item);
  const resourceLink = await saveResourceLink(harness.db, { ...link, withoutColumn: true, lineItemUrl });
  await lab.launchAs({ ...graded, resourceLink });
  expect(await lab.send(graded)).toBe('sent');
  expect(scoresOf(item, graded)).toMatchObject([{ scoreGiven: 10 }]);
});

test('concurrent finishers create one line item, and all get their scores', async () => {
  const first = await withoutItem();
  const learners = [first];
  for (let count = 1; count < 6; count += 1) {
    const { id: ltiUserId } = lab.simulator.addUser();
    const learner = { ...first.learner, ltiUserId };
    learners.push(await lab.launchAs({ ...first, learner }));
  }
  for (const learner of learners) await lab.tell(learner, completed(50));
  lab.simulator.fail('lineitems', { delayMs: 200, times: 2 });
  const outcomes = await Promise.all(learners.map((learner) => lab.send(learner)));
  expect(outcomes.filter((outcome) => outcome === 'sent').length).toBeGreaterThanOrEqual(1);
  for (const learner of learners) await lab.send(learner);
  const [item, ...others] = itemsOf(first);
  expect(others).toEqual([]);
  for (const learner of learners) expect(scoresOf(item, learner)).toHaveLength(1);
});

test('a line item whose creation response was lost is found, not created again', async () => {
  const graded = await withoutItem();
  await lab.tell(graded, completed(10));
  lab.simulator.fail('lineitems', {});
  lab.simulator.fail('lineitems', { drop: true, afterwards: true });
  expect(await lab.send(graded)).toBe('network');
  expect(await lab.send(graded)).toBe('sent');
  expect(itemsOf(graded)).toHaveLength(1);
});

test('a process that dies during the line item lookup blocks others only until its lock expires', async () => {
  const { db } = lab.harness;
  const graded = await withoutItem();
  await lab.tell(graded, completed(10));
  const lease = {
    url: null,
    leaseId: 'of a process that has died',
    leaseUntil: new Date(Date.now() + 60_000),
  };
  await db.ltiLineItems.create({ _id: graded.resourceLink._id, ...lease });
  expect(await lab.send(graded)).toBe('line_item_busy');
  expect(await lab.rowOf(graded)).toMatchObject({ state: 'waiting', tries: 0, failure: null });
  await db.ltiLineItems.updateOne({ _id: graded.resourceLink._id }, { $set: { leaseUntil: new Date(0) } });
  expect(await lab.send(graded)).toBe('sent');
});

test('a line item removed from the platform is created again', async () => {
  const graded = await withoutItem();
  await lab.tell(graded, completed(10));
  await lab.send(graded);
  const [removed] = itemsOf(graded) as [LineItem];
  lab.simulator.removeLineItem(removed);
  await lab.tell(graded, completed(20));
  expect(await lab.send(graded)).toBe('line_item_gone');
  expect(await lab.send(graded)).toBe('sent');
  const [made] = itemsOf(graded);
  expect(made?.id).not.toBe(removed.id);
  expect(scoresOf(made, graded)).toMatchObject([{ scoreGiven: 20 }]);
});

test('a 404 that names the user as unknown fails the score', async () => {
  const graded = await withoutItem();
  await lab.tell(graded, completed(10));
  await lab.send(graded);
  const known = () => lab.harness.db.ltiLineItems.findById(graded.resourceLink._id).lean<LtiLineItem>();
  const before = await known();
  lab.simulator.fail('scores', { status: 404, body: 'no such user' });
  await lab.tell(graded, completed(20));
  expect(await lab.send(graded)).toBe('refused');
  const failure = { status: 404, body: 'no such user' };
  expect(await lab.rowOf(graded)).toMatchObject({ state: 'failed', failure });
  expect(await known()).toEqual(before);
  expect(itemsOf(graded)).toHaveLength(1);
});

test('a paginated list of line items is read to its last page, up to the page limit', async () => {
  const graded = await withoutItem();
  const item = lab.simulator.addLineItem(
    { course: lab.simulator.sample.course, tool: lab.tool, link: graded.link },
    { label: 'On the last page', scoreMaximum: 100, tag: 'lectern' },
  );
  const foreign = { id: 'https://a.example/1', resourceLinkId: 'another', tag: 'lectern' };
  const found = { id: lab.simulator.urlOf(item), resourceLinkId: graded.link.id, tag: 'lectern' };
  const type = { 'content-type': 'application/vnd.ims.lis.v2.lineitemcontainer+json' };
  const link = '<https://other.example/>; rel="prev", </items?page=2>; rel="next"; title="more"';
  origin.script(
    '/items',
    answer(200, { ...type, link }, JSON.stringify([foreign, 'no item'])),
    answer(200, type, JSON.stringify([found])),
  );
  await lab.harness.db.ltiResourceLinks.updateOne(
    { _id: graded.resourceLink._id },
    { $set: { lineItemsUrl: origin.url('/items?course=7') } },
  );
  await lab.tell(graded, completed(10));
  expect(await lab.send(graded)).toBe('sent');
  expect(scoresOf(item, graded)).toHaveLength(1);
  expect(origin.log.map(({ url }) => url)).toEqual([
    `/items?course=7&resource_link_id=${graded.link.id}&limit=100`,
    '/items?page=2',
  ]);
});

test('long line items and headers of a platform block no event loop', async () => {
  const graded = await withoutItem();
  const type = { 'content-type': 'application/vnd.ims.lis.v2.lineitemcontainer+json' };
  const id = `https://a.example${'/'.repeat(100_000)}x`;
  const items = [{ id, resourceLinkId: graded.link.id, tag: 'lectern' }];
  origin.script('/long', answer(200, { ...type, link: '<'.repeat(15_000) }, JSON.stringify(items)));
  await lab.harness.db.ltiResourceLinks.updateOne(
    { _id: graded.resourceLink._id },
    { $set: { lineItemsUrl: origin.url('/long') } },
  );
  await lab.tell(graded, completed(10));
  const block = await longestBlock(() => lab.send(graded));
  expect(block).toBeLessThan(maxBlockMs);
  expect(await longestBlock(() => Promise.resolve(scoresUrl(id)))).toBeLessThan(maxBlockMs);
});

describe('a score with its token is not sent to', () => {
  const listed = (id: string) => ({ id, resourceLinkId: '', tag: 'lectern' });

  test.each([
    ['a line item without https', { lineItemUrl: 'http://lms.example/items/1' }],
    ['a list without https', { lineItemsUrl: 'http://lms.example/items' }],
  ])('%s', async (_what, urls) => {
    const graded = await withoutItem();
    await lab.harness.db.ltiResourceLinks.updateOne({ _id: graded.resourceLink._id }, { $set: urls });
    await lab.tell(graded, completed(10));
    expect(await lab.send(graded)).toBe('blocked_address');
    expect(await lab.rowOf(graded)).toMatchObject({ state: 'failed' });
  });

  test.each([
    ['a page of another domain', '</items?page=1>; rel="next", <https://other.example/>; rel="next"', null],
    ['the next page of another domain', '<https://other.example/items>; rel="next"', null],
    ['a line item of another domain', undefined, 'https://other.example/items/1'],
  ])('%s', async (what, link, id) => {
    const graded = await withoutItem();
    const path = `/${encodeURIComponent(what)}`;
    const items = id === null ? [] : [{ ...listed(id), resourceLinkId: graded.link.id }];
    const type = { 'content-type': 'application/vnd.ims.lis.v2.lineitemcontainer+json' };
    const first = link?.replace('/items?page=1', `${path}?page=1`);
    origin.script(
      path,
      answer(200, { ...type, ...(first !== undefined && { link: first }) }, JSON.stringify(items)),
      answer(200, { ...type, link: '<https://other.example/>; rel="next"' }, '[]'),
    );
    await lab.harness.db.ltiResourceLinks.updateOne(
      { _id: graded.resourceLink._id },
      { $set: { lineItemsUrl: origin.url(path) } },
    );
    await lab.tell(graded, completed(10));
    expect(await lab.send(graded)).toBe('blocked_address');
    expect(await lab.rowOf(graded)).toMatchObject({ state: 'failed' });
  });
});
