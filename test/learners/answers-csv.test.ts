import { Readable } from 'node:stream';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { answerText } from '../../shared/learners/answer-columns.ts';
import { answersAsCsv } from '../../shared/learners/learner-tables.ts';
import type { ListedLearner } from '../../shared/models/learner-list.ts';
import { widgetKey } from '../../shared/progress/outline.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { playedSections, publishLesson, question, section, step } from '../player/player-lessons.ts';
import { buildOrganization } from '../support/factories.ts';
import { ask, expectError } from '../support/answers.ts';
import { useApi } from '../support/use.ts';
import { answerTo, storeLearners } from './build-learners.ts';

const api = useApi();
const choices = ['a', 'b'].map((id) => ({ id, html: `<b>Choice ${id}</b>, or not` }));
const sections = () => [
  section('one', step('s1', { ...question('q1'), props: { ...question('q1').props, choices } })),
  section('two', step('s2', { type: 'OpenResponse', props: { id: 'essay', prompt: 'Why?' } })),
];
let version: LessonVersion;

const answersOf = async (lessonId: string, query = '') => {
  const answer = await ask(`${api.url}/api/lessons/${lessonId}/answers.csv?${query}`, {
    headers: api.headers,
  });
  return { status: answer.status, text: answer.body.toString() };
};
/** Returns the cells after the identifying ones; no cell has CRLF. */
const cellsOf = (text: string) =>
  text
    .trimEnd()
    .split('\r\n')
    .map((row) => row.match(/("(?:[^"]|"")*"|[^,]*)(?:,|$)/g)?.map((cell) => cell.replace(/,$/, '')) ?? [])
    .map((cells) => cells.slice(9, 11));

beforeAll(async () => {
  version = await publishLesson(api, api.organization, { sections: sections() });
});

test('each learner has a row, each question a column, each answer its text', async () => {
  const essay = { widgetType: 'OpenResponse' };
  const long = 'x'.repeat(100_000);
  await storeLearners(api.db, version, [
    { items: [answerTo('q1', ['b', 'a'], { stepId: 's1' }), answerTo('essay', '=HYPERLINK("evil")', essay)] },
    {},
    { ltiUserId: 'user', items: [answerTo('essay', long, essay)] },
    { items: [answerTo('q1', ['gone'], { stepId: 's1' }), answerTo('gone', 1)] },
    // A line must not begin a row, which might be a formula.
    { items: [answerTo('essay', 'one\n=1+1', essay)] },
    { items: [answerTo('essay', 'one\r=1+1', essay)] },
  ]);
  const { text } = await answersOf(version.lessonId);
  expect(text).toMatch(
    /^source,learnerId,ltiUserId,platformId,contextId,status,percent,lastActivityAt,versionId,/,
  );
  expect(cellsOf(text)).toEqual([
    ['1.1 ? (s1/q1)', '2.1 Why? (s2/essay)'],
    ['"Choice b , or not; Choice a , or not"', `"'=HYPERLINK(""evil"")"`],
    ['', ''],
    ['', long],
    ['gone', ''],
    ['', '"one\n=1+1"'],
    ['', '"one\r=1+1"'],
  ]);
});

test('the columns are those of the named version, or of the one that was published last', async () => {
  const { lessonId } = version;
  const next = await publishLesson(api, api.organization, { lessonId, sections: playedSections() });
  await storeLearners(api.db, next, [{ learnerId: 'of the next version' }]);
  const header = async (query = '') => cellsOf((await answersOf(lessonId, query)).text)[0]?.[0];
  expect(await header()).toBe('2.1 ? (s2/q2)');
  expect(await header(`version=${version._id}`)).toBe('1.1 ? (s1/q1)');
  expect(cellsOf((await answersOf(lessonId, `version=${next._id}`)).text)).toHaveLength(2);
});

test('a lesson without a published version gets 404, and so does a version of another lesson', async () => {
  const draft = await publishLesson(api, api.organization, { publish: false });
  for (const query of ['', `?version=${version._id}`]) {
    const answer = await ask(`${api.url}/api/lessons/${draft.lessonId}/answers.csv${query}`, {
      headers: api.headers,
    });
    expectError(answer, 404, 'Version not found');
  }
});

test('an organization streams two lists at once; a client that hangs up frees its place', async () => {
  const { organization, headers } = await buildOrganization(api);
  const own = await publishLesson(api, organization, { sections: sections() });
  const essay = answerTo('essay', 'x'.repeat(1_000_000), { widgetType: 'OpenResponse' });
  await storeLearners(
    api.db,
    own,
    Array.from({ length: 30 }, () => ({ items: [essay] })),
  );
  const url = `${api.url}/api/lessons/${own.lessonId}/answers.csv`;
  const ending = new AbortController();
  onTestFinished(() => ending.abort());
  const open = async () => {
    const leaving = new AbortController();
    const response = await fetch(url, { headers, signal: AbortSignal.any([leaving.signal, ending.signal]) });
    // A response that nothing refers to would hang up by itself.
    return { response, status: response.status, hangUp: () => leaving.abort() };
  };
  const [first, second] = [await open(), await open()];
  const third = await ask(url, { headers });
  expectError(third, 429, 'Too many lists of learners are being sent; try again in 10 seconds');
  expect(
    (await ask(`${api.url}/api/lessons/${version.lessonId}/answers.csv`, { headers: api.headers })).status,
  ).toBe(200);
  expect([first.response, second.response].map(({ bodyUsed }) => bodyUsed)).toEqual([false, false]);
  first.hangUp();
  await expect.poll(async () => (await open()).status, { timeout: 20_000 }).toBe(200);
});

test('the largest records are listed in parts, and other requests run between them', async () => {
  const answer = JSON.stringify(Array.from({ length: 9 }, () => ({ a: [{}], b: 'x' })));
  const items = Array.from({ length: 4000 }, (_, index) => ({
    stepId: 's1',
    widgetId: `q${index}`,
    answer,
  }));
  const learner = {
    ...{ source: 'embed', learnerId: 'ada', status: 'in_progress', versionId: version._id, items },
    ...{ score: 0, maxScore: 0, startedAt: null, completedAt: null, lastActivityAt: new Date() },
  } as unknown as ListedLearner;
  const questions = items.map(({ stepId, widgetId }) => ({
    ...{ key: widgetKey(stepId, widgetId), title: widgetId, interaction: undefined },
  }));
  const learners = Readable.from([learner, learner, learner]) as AsyncIterable<ListedLearner>;
  const parts: string[] = [];
  let turns = 0;
  let others = setImmediate(function run() {
    turns += 1;
    others = setImmediate(run);
  });
  for await (const part of answersAsCsv(learners, questions)) parts.push(part);
  clearImmediate(others);
  const text = parts.join('');
  expect(parts.length).toBeGreaterThan(10);
  expect(turns).toBeGreaterThanOrEqual(parts.length - 1);
  expect(Math.max(...parts.map(({ length }) => length))).toBeLessThan(250_000);
  const [header, ...rows] = text.trimEnd().split('\r\n');
  expect(header?.split(',')).toHaveLength(4009);
  expect(rows).toHaveLength(3);
  expect(rows.map((row) => row.split(',"[{').length)).toEqual([4001, 4001, 4001]);
});

test('the text of a choice or a match is printed once, however often a hostile answer names it', () => {
  const parts = [{ id: 'a', text: 'x'.repeat(200) }];
  const named = new Array<string>(30_000).fill('a');
  const choice = { type: 'choice', prompt: '', parts: { choices: parts } } as const;
  expect(answerText(choice, named)).toBe('x'.repeat(200));
  const matching = { type: 'matching', prompt: '', parts: { source: parts, target: parts } } as const;
  const pairs = Object.fromEntries([...named.keys(), 'a'].map((from) => [from, 'a']));
  expect(answerText(matching, pairs).match(/x+/g)).toEqual(['x'.repeat(200), 'x'.repeat(200)]);
});
