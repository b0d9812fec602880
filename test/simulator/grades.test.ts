import { beforeEach, describe, expect, test } from 'vitest';
import type { Course, LineItem, Link, User } from '../../simulator/model.ts';
import { withPathSuffix } from '../../simulator/addresses.ts';
import { mediaType, scope } from '../../simulator/vocabulary.ts';
import { useSimulatorLab } from './simulator-lab.ts';

const lab = useSimulatorLab();

let course: Course;
let link: Link;
let item: LineItem;
let user: User;
let tokens: Record<'score' | 'lineItem' | 'lineItemReadonly' | 'resultReadonly', string>;

beforeEach(async () => {
  const { simulator, scripted } = lab;
  course = simulator.addCourse();
  link = scripted.link({
    course,
    lineItem: { label: 'Tides', scoreMaximum: 10, tag: 'quiz', resourceId: 'tides' },
  });
  [item = item] = simulator.lineItemsOf(link);
  user = simulator.addUser();
  const names = ['score', 'lineItem', 'lineItemReadonly', 'resultReadonly'] as const;
  const pairs = names.map(async (name) => [name, await scripted.token(scope[name])] as const);
  tokens = Object.fromEntries(await Promise.all(pairs)) as typeof tokens;
});

interface Call {
  method?: string;
  token?: string;
  type?: string;
  accept?: string;
  body?: unknown;
}

async function call(url: string, { method = 'GET', token, type, accept, body }: Call = {}) {
  const headers = {
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
    ...(type !== undefined && { 'content-type': type }),
    ...(accept !== undefined && { accept }),
  };
  const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) };
  const response = await fetch(url, init);
  const text = await response.text();
  const isJson = (response.headers.get('content-type') ?? '').includes('json');
  const answer = isJson ? (JSON.parse(text) as unknown) : null;
  return { status: response.status, headers: response.headers, body: answer };
}

const listAddress = () => lab.simulator.addressOf(item).replace(/\/\d+\/lineitem/, '');

const full = () => ({
  userId: user.id,
  timestamp: new Date().toISOString(),
  activityProgress: 'Completed',
  gradingProgress: 'FullyGraded',
  scoreGiven: 3,
  scoreMaximum: 4,
});

const sendScore = (changes: object = {}, options: Call = {}) =>
  call(withPathSuffix(lab.simulator.addressOf(item), '/scores'), {
    method: 'POST',
    token: tokens.score,
    type: mediaType.score,
    body: { ...full(), ...changes },
    ...options,
  });

describe('scores', () => {
  test('are kept as they came, and count on the scale of their line item', async () => {
    expect(await sendScore()).toMatchObject({ status: 200 });
    expect(lab.simulator.scoresOf(item)).toMatchObject([{ userId: user.id, scoreGiven: 3, scoreMaximum: 4 }]);
    const results = await call(withPathSuffix(lab.simulator.addressOf(item), '/results'), {
      token: tokens.resultReadonly,
    });
    expect(results.body).toMatchObject([{ userId: user.id, resultScore: 7.5, resultMaximum: 10 }]);
    expect(results.headers.get('content-type')).toContain(mediaType.results);
  });

  test.each([
    ['zero', { scoreGiven: 0 }, 0],
    ['more than full marks', { scoreGiven: 5 }, 12.5],
    ['no score', { scoreGiven: undefined, scoreMaximum: undefined }, undefined],
    ['a score of null', { scoreGiven: null }, undefined],
    ['what is still to be graded', { gradingProgress: 'PendingManual' }, undefined],
  ])('with %s have the result that the standard says', async (_, changes, result) => {
    expect((await sendScore(changes)).status).toBe(200);
    const address = withPathSuffix(lab.simulator.addressOf(item), '/results');
    const { body } = await call(address, { token: tokens.resultReadonly });
    expect((body as [{ resultScore?: number }])[0].resultScore).toBe(result);
  });

  test.each([
    ['another media type', {}, { type: 'application/json' }, 415],
    ['a token of another scope', {}, { token: 'lineItem' }, 403],
    ['no token', {}, { token: 'none' }, 401],
    ['no user', { userId: undefined }, {}, 400],
    ['a user whom the platform does not know', { userId: 'somebody' }, {}, 400],
    ['no timestamp', { timestamp: undefined }, {}, 400],
    ['a timestamp without a zone', { timestamp: '2026-01-01T10:00:00.000' }, {}, 400],
    ['a timestamp in whole seconds', { timestamp: '2026-01-01T10:00:00Z' }, {}, 400],
    ['an unknown progress', { activityProgress: 'Done' }, {}, 400],
    ['an unknown grading', { gradingProgress: undefined }, {}, 400],
    ['a negative score', { scoreGiven: -1 }, {}, 400],
    ['a score as text', { scoreGiven: '3' }, {}, 400],
    ['a score of nothing', { scoreMaximum: undefined }, {}, 400],
    ['a maximum of zero', { scoreMaximum: 0 }, {}, 400],
  ] as const)('with %s are refused and not kept', async (_, changes, options, status) => {
    const { token: name = 'score', ...others } = { ...options } as { token?: string; type?: string };
    const token = name === 'none' ? undefined : tokens[name as keyof typeof tokens];
    expect((await sendScore(changes, { ...others, token })).status).toBe(status);
    expect(lab.simulator.scoresOf(item)).toStrictEqual([]);
  });

  test('that are not of a later second than the last one are refused, of each user and line item by itself', async () => {
    const timestamp = '2026-01-01T10:00:00.500Z';
    expect((await sendScore({ timestamp })).status).toBe(200);
    expect((await sendScore({ timestamp })).status).toBe(409);
    expect((await sendScore({ timestamp: '2026-01-01T11:00:00.400+01:00' })).status).toBe(409);
    expect((await sendScore({ timestamp: '2026-01-01T10:00:00.999Z' })).status).toBe(409);
    expect((await sendScore({ timestamp: '2026-01-01T10:00:01.000Z' })).status).toBe(200);
    user = lab.simulator.addUser();
    expect((await sendScore({ timestamp })).status).toBe(200);
    expect(lab.simulator.currentScores(item).size).toBe(2);
  });

  test('of teachers and of who is not in the course are refused', async () => {
    const elsewhere = lab.simulator.addUser({ courseIds: [lab.simulator.sample.course.id] });
    for (const { id } of [lab.simulator.sample.users.teacher, elsewhere]) {
      expect((await sendScore({ userId: id })).status).toBe(400);
    }
  });

  test('at an address without its query, or with /scores behind it, find nothing', async () => {
    const address = lab.simulator.addressOf(item);
    const { pathname } = new URL(address);
    for (const url of [`${lab.simulator.addresses.url}${pathname}/scores`, `${address}/scores`]) {
      const init = { method: 'POST', token: tokens.score, type: mediaType.score, body: full() };
      expect((await call(url, init)).status).toBe(404);
    }
  });
});

describe('line items', () => {
  const post = (body: object, options: Call = {}) =>
    call(listAddress(), {
      method: 'POST',
      token: tokens.lineItem,
      type: mediaType.lineItem,
      body,
      ...options,
    });

  test('are made, read, changed and removed', async () => {
    const made = await post({ label: 'Moon', scoreMaximum: 5, resourceLinkId: link.id, tag: 'more' });
    expect(made).toMatchObject({
      status: 201,
      body: { label: 'Moon', scoreMaximum: 5, resourceLinkId: link.id },
    });
    const { id } = made.body as { id: string };
    const read = await call(id, { token: tokens.lineItemReadonly });
    expect(read.body).toStrictEqual(made.body);
    expect(read.headers.get('content-type')).toContain(mediaType.lineItem);

    const body = { label: 'The moon', scoreMaximum: 6 };
    const changed = await call(id, { method: 'PUT', token: tokens.lineItem, type: mediaType.lineItem, body });
    expect(changed.body).toStrictEqual({ id, ...body, resourceLinkId: link.id });

    expect((await call(id, { method: 'DELETE', token: tokens.lineItem })).status).toBe(204);
    expect((await call(id, { token: tokens.lineItem })).status).toBe(404);
  });

  test('are listed by link, tag and resource, and in pages', async () => {
    await post({ label: 'Moon', scoreMaximum: 5, tag: 'quiz' });
    const list = async (query: string) => {
      const { body, headers } = await call(`${listAddress()}${query}`, { token: tokens.lineItemReadonly });
      return { labels: (body as { label: string }[]).map(({ label }) => label), next: headers.get('link') };
    };
    expect((await list('')).labels).toStrictEqual(['Tides', 'Moon']);
    expect((await list(`&resource_link_id=${link.id}`)).labels).toStrictEqual(['Tides']);
    expect((await list('&resource_id=tides&tag=quiz')).labels).toStrictEqual(['Tides']);
    expect((await list('&tag=other')).labels).toStrictEqual([]);

    const first = await list('&limit=1');
    expect(first.labels).toStrictEqual(['Tides']);
    const [, next = ''] = /^<([^>]+)>; rel="next"$/.exec(first.next ?? '') ?? [];
    const second = await call(next, { token: tokens.lineItem });
    expect(second.body).toMatchObject([{ label: 'Moon' }]);
    expect(second.headers.get('link')).toBeNull();
  });

  test.each([
    ['no label', { scoreMaximum: 5 }, {}, 400],
    ['no maximum', { label: 'Moon' }, {}, 400],
    ['a maximum of zero', { label: 'Moon', scoreMaximum: 0 }, {}, 400],
    ['a link of another course', { label: 'Moon', scoreMaximum: 1, resourceLinkId: 'other' }, {}, 404],
    ['another media type', { label: 'Moon', scoreMaximum: 1 }, { type: 'application/json' }, 415],
  ])('with %s are not made', async (_, body, options, status) => {
    expect((await post(body, options)).status).toBe(status);
  });

  test('may be read but not made or changed with the scope for reading', async () => {
    expect((await post({ label: 'Moon', scoreMaximum: 1 }, { token: tokens.lineItemReadonly })).status).toBe(
      403,
    );
    const { status } = await call(lab.simulator.addressOf(item), {
      method: 'DELETE',
      token: tokens.lineItemReadonly,
    });
    expect(status).toBe(403);
  });

  test('of another tool are not there', async () => {
    const tool = lab.scripted.register();
    const [other] = lab.simulator.lineItemsOf(
      lab.scripted.link({ course, tool, lineItem: { label: 'Other', scoreMaximum: 1 } }),
    );
    if (other === undefined) throw new Error('no line item');
    expect((await call(lab.simulator.addressOf(other), { token: tokens.lineItem })).status).toBe(404);
    expect((await call(listAddress(), { token: tokens.lineItem })).body).toHaveLength(1);
  });

  test('are sent as nothing but their media type', async () => {
    const options = { token: tokens.lineItem, accept: 'text/html' };
    expect((await call(lab.simulator.addressOf(item), options)).status).toBe(406);
  });
});
