import { describe, expect, test } from 'vitest';
import type { LineItem } from '../../simulator/model.ts';
import { withPathSuffix } from '../../simulator/urls.ts';
import { mediaType, scope } from '../../simulator/vocabulary.ts';
import { useSimulatorLab } from './scripted-tool.ts';

/* The simulator's grade services. The tests of grades (test/lti) run against them too. */

const lab = useSimulatorLab();

const authorization = async (name: string) => `Bearer ${await lab.scripted.token(name)}`;

function addItem(): LineItem {
  const { simulator, scripted } = lab;
  const course = simulator.addCourse();
  const lineItem = { label: 'Tides', scoreMaximum: 10, tag: 'quiz' };
  const [item] = simulator.lineItemsOf(scripted.link({ course, lineItem }));
  if (item === undefined) throw new Error('no line item');
  return item;
}

async function sendScore(item: LineItem, changes: object, headers: Record<string, string> = {}) {
  const own = { authorization: await authorization(scope.score), ...headers };
  const { status } = await lab.scripted.sendScore(item, { scoreGiven: 3, scoreMaximum: 4, ...changes }, own);
  return status;
}

describe('a score', () => {
  test.each([
    ['3 of 4', {}, 7.5],
    ['no points', { scoreGiven: null }, undefined],
    ['manual grading to come', { gradingProgress: 'PendingManual' }, undefined],
  ])('with %s has the result that the standard defines', async (_, changes, resultScore) => {
    const [item, { id: userId }] = [addItem(), lab.simulator.addUser()];
    expect(await sendScore(item, { userId, ...changes })).toBe(200);
    const url = withPathSuffix(lab.simulator.urlOf(item), '/results');
    const headers = { authorization: await authorization(scope.resultReadonly) };
    const [result] = (await (await fetch(url, { headers })).json()) as [{ resultScore?: number }];
    expect(result.resultScore).toBe(resultScore);
  });

  test.each<[string, object, number, Record<string, string>?]>([
    ['another media type', {}, 415, { 'content-type': 'application/json' }],
    ['no token', {}, 401, { authorization: '' }],
    ['an unknown user', { userId: 'other' }, 400],
    ['a timestamp without a zone', { timestamp: '2026-01-01T10:00:00.000' }, 400],
    ['an unknown progress', { activityProgress: 'Done' }, 400],
    ['points without a maximum', { scoreMaximum: undefined }, 400],
  ])('with %s is rejected and not stored', async (_, changes, status, headers) => {
    const [item, { id: userId }] = [addItem(), lab.simulator.addUser()];
    expect(await sendScore(item, { userId, ...changes }, headers)).toBe(status);
    expect(lab.simulator.scoresOf(item)).toEqual([]);
  });

  test('for a teacher, for a user outside the course, or with a token for another scope is rejected', async () => {
    const { simulator } = lab;
    const { sample } = simulator;
    const outside = simulator.addUser({ courseIds: [sample.course.id] });
    for (const { id: userId } of [sample.users.teacher, outside]) {
      expect(await sendScore(addItem(), { userId })).toBe(400);
    }
    const other = { authorization: await authorization(scope.lineItem) };
    expect(await sendScore(addItem(), { userId: sample.users.learner.id }, other)).toBe(403);
  });

  test('must have a time at least a second after the last one of its user and line item', async () => {
    const [item, { id: userId }] = [addItem(), lab.simulator.addUser()];
    const statuses = [];
    for (const time of [
      '10:00:00.500Z',
      '10:00:00.500Z',
      '11:00:00.400+01:00',
      '10:00:00.999Z',
      '10:00:01.000Z',
    ]) {
      statuses.push(await sendScore(item, { userId, timestamp: `2026-01-01T${time}` }));
    }
    expect(statuses).toEqual([200, 409, 409, 409, 200]);
    const first = { timestamp: '2026-01-01T10:00:00.500Z' };
    expect(await sendScore(item, { userId: lab.simulator.addUser().id, ...first })).toBe(200);
  });

  test('at a URL without its query, or with /scores after the query, gets 404', async () => {
    const url = lab.simulator.urlOf(addItem());
    const headers = { authorization: await authorization(scope.score), 'content-type': mediaType.score };
    for (const wrong of [`${url.split('?')[0]}/scores`, `${url}/scores`]) {
      expect((await fetch(wrong, { method: 'POST', headers, body: '{}' })).status).toBe(404);
    }
  });
});

describe('line items', () => {
  async function call(url: string, options: { method?: string; body?: object; token?: string } = {}) {
    const { method = 'GET', body, token = scope.lineItem } = options;
    const headers = { authorization: await authorization(token), 'content-type': mediaType.lineItem };
    const response = await fetch(url, { method, headers, ...(body && { body: JSON.stringify(body) }) });
    const isJson = (response.headers.get('content-type') ?? '').includes('json');
    return {
      status: response.status,
      next: response.headers.get('link'),
      body: isJson ? await response.json() : null,
    };
  }
  const listUrl = (item: LineItem) => lab.simulator.urlOf(item).replace(/\/\d+\/lineitem/, '');

  test('are created, read, listed by filter and page, changed and removed', async () => {
    const item = addItem();
    const created = await call(listUrl(item), { method: 'POST', body: { label: 'Moon', scoreMaximum: 5 } });
    expect(created).toMatchObject({ status: 201, body: { label: 'Moon', scoreMaximum: 5 } });
    const { id } = created.body as { id: string };
    expect((await call(id, { token: scope.lineItemReadonly })).body).toEqual(created.body);
    for (const [query, labels] of Object.entries({
      '': ['Tides', 'Moon'],
      '&tag=quiz': ['Tides'],
      '&tag=x': [],
    })) {
      const { body } = await call(listUrl(item) + query);
      expect((body as { label: string }[]).map(({ label }) => label)).toEqual(labels);
    }
    const page = await call(`${listUrl(item)}&limit=1`);
    const [, next = ''] = /^<([^>]+)>; rel="next"$/.exec(page.next ?? '') ?? [];
    expect(await call(next)).toMatchObject({ body: [{ label: 'Moon' }], next: null });

    const body = { label: 'The moon', scoreMaximum: 6 };
    expect((await call(id, { method: 'PUT', body })).body).toEqual({ id, ...body });
    expect((await call(id, { method: 'DELETE', token: scope.lineItemReadonly })).status).toBe(403);
    expect((await call(id, { method: 'DELETE' })).status).toBe(204);
    expect((await call(id)).status).toBe(404);
  });

  test('are hidden from other tools', async () => {
    const { simulator, scripted } = lab;
    const lineItem = { label: 'Other', scoreMaximum: 1 };
    const [other] = simulator.lineItemsOf(scripted.link({ tool: scripted.register(), lineItem }));
    expect((await call(simulator.urlOf(other as LineItem))).status).toBe(404);
  });
});
