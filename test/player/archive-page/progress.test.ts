import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { buildPackage, buildVersion } from '../../support/factories.ts';
import { waitFor } from '../../support/wait-for.ts';
import { useArchiveLab, ways } from './archive-lab.ts';
import type { Unpacked } from './archive-lab.ts';

const lab = useArchiveLab();

const essay = { type: 'OpenResponse', props: { id: 'Essay', prompt: 'Why?' } };
const question = (id: string) => ({
  type: 'MultipleChoice',
  props: {
    id,
    prompt: 'Which?',
    choices: [
      { id: 'a', html: 'A' },
      { id: 'b', html: 'B' },
    ],
    correct: ['b'],
    points: 2,
  },
});
const steps = [1, 2, 3].map((number) => ({
  id: randomUUID(),
  title: `Step ${number}`,
  order_index: number,
  content: {
    root: { props: {} },
    content: [question(`Question-${number}`), ...(number === 3 ? [essay] : [])],
  },
}));
const [first = '', second = '', third = ''] = steps.map(({ id }) => id);

let archive: Unpacked;
let other: Unpacked;
beforeAll(async () => {
  [archive, other] = (await Promise.all(
    ['one', 'another'].map(async (slug) => {
      const sections = [{ id: randomUUID(), title: 'A section', order_index: 0, steps }];
      const { path } = await buildPackage({ slug, sections });
      return lab.unpack(await buildVersion(lab.harness, lab.organization, path));
    }),
  )) as [Unpacked, Unpacked];
});

const titleOf = '.lectern-step-title';
const next = '.lectern-steps button >> nth=-1';

test.each(ways)(
  'a learner who closes the page resumes at the same step with the same answers, from %s',
  async (way) => {
    const context = await lab.newContext();
    const { page } = await lab.open(archive.addresses[way], context);
    await page.locator('input[value="b"]').check();
    await page.locator('.lectern-actions button').click();
    await page.locator(next).click();
    await page.locator('input[value="a"]').check();
    await page.locator('.lectern-actions button').click();
    await page.close();

    const again = await lab.open(archive.addresses[way], context);
    expect(await again.page.locator(titleOf).textContent()).toBe('Step 2');
    expect(await again.page.locator('input[value="a"]').isChecked()).toBe(true);
    expect(await again.told()).toMatchObject([
      {
        name: 'onReady',
        event: {
          ...{ sectionIndex: 0, stepIndex: 1, stepId: second, totalSteps: 3, score: 2, maxScore: 6 },
          items: [
            { widgetId: 'Question-1', answer: ['b'], score: 2 },
            { widgetId: 'Question-2', answer: ['a'], score: 0 },
          ],
          progressData: { visited: [first, second], completed: false },
        },
      },
    ]);
    expect([...again.problems]).toEqual([]);
    await context.close();
  },
);

test.each(ways)('answers from two tabs are all kept and shown in both, from %s', async (way) => {
  const context = await lab.newContext();
  const tabs = [
    (await lab.open(archive.addresses[way], context)).page,
    (await lab.open(`${archive.addresses[way]}#${third}`, context)).page,
  ] as const;
  const [one, two] = tabs;
  await two.locator('textarea').fill('Not submitted yet');
  await one.locator('input[value="b"]').check();
  await one.locator('.lectern-actions button').click();
  // The second tab has received it at its own step, and its unsubmitted text is now an answer.
  await waitFor('the text in the browser', () =>
    one.evaluate<boolean>(`Object.values(localStorage).join().includes('Not submitted yet')`),
  );
  await two.locator('input[value="a"]').check();
  await two.locator('.lectern-actions button').first().click();
  expect(await two.locator(titleOf).textContent()).toBe('Step 3');
  await one.locator(next).click();
  await one.close();
  await two.close();

  const { page, told } = await lab.open(archive.addresses[way], context);
  expect(await page.locator(titleOf).textContent()).toBe('Step 2');
  const [ready] = await told();
  const items = ready?.event.items as { widgetId: string; answer: unknown }[];
  expect(Object.fromEntries(items.map(({ widgetId, answer }) => [widgetId, answer]))).toEqual({
    'Question-1': ['b'],
    'Question-3': ['a'],
    Essay: 'Not submitted yet',
  });
  await context.close();
});

test('two lessons opened from folders keep their progress apart', async () => {
  const [, inFolder] = ways;
  const context = await lab.newContext();
  const { page } = await lab.open(archive.addresses[inFolder], context);
  await page.locator(next).click();
  const fresh = await lab.open(other.addresses[inFolder], context);
  expect(await fresh.page.locator(titleOf).textContent()).toBe('Step 1');
  await context.close();
});

test("a URL that names a step opens there, and a reload resumes at the learner's step", async () => {
  const { page, problems } = await lab.open(`${archive.addresses[ways[1]]}#${second}`);
  expect(await page.locator(titleOf).textContent()).toBe('Step 2');
  await page.locator(next).click();
  await page.reload();
  expect(await page.locator(titleOf).textContent()).toBe('Step 3');
  expect(problems).toEqual([]);
  await page.context().close();
});

test('a browser without storage plays the lesson, and the page gets one error event', async () => {
  const context = await lab.newContext();
  await context.addInitScript(`Storage.prototype.setItem = () => { throw new Error('no room'); }`);
  const { page, told } = await lab.open(archive.addresses[ways[0]], context);
  await page.locator(next).click();
  await page.locator(next).click();
  expect(await page.locator(titleOf).textContent()).toBe('Step 3');
  const errors = (await told()).filter(({ name }) => name === 'onError');
  expect(errors.map(({ event }) => event.code)).toEqual(['progress_not_kept']);
  await context.close();
});

test('a callback that throws stops nothing, and DOM events equal the callbacks', async () => {
  const { page, problems } = await lab.open(archive.addresses[ways[0]]);
  await page.evaluate(`
    window.heard = [];
    document.addEventListener('lectern:step', ({ detail }) => window.heard.push(detail.stepId));
    window.lectern.onStepChange = () => { throw new Error('the site has a fault'); };
  `);
  await page.locator(next).click();
  await page.locator(next).click();
  expect(await page.evaluate('window.heard')).toEqual([second, third]);
  expect(problems).toEqual(['the site has a fault', 'the site has a fault']);
  await page.context().close();
});

test('a site that knows its learners resumes from its own stored state, and the browser stores nothing', async () => {
  const stored = {
    stepId: third,
    items: [],
    variableState: {},
    progressData: { visited: [first, second, third] },
  };
  const callbacks = join(other.path, 'player', 'callbacks.js');
  const before = await readFile(callbacks, 'utf8');
  await writeFile(callbacks, `${before}\nwindow.lectern.state = ${JSON.stringify(stored)};\n`);
  const { page } = await lab.open(other.addresses[ways[0]]);
  expect(await page.locator(titleOf).textContent()).toBe('Step 3');
  await page.locator('.lectern-steps button').first().click();
  expect(await page.evaluate('localStorage.length')).toBe(0);
  await writeFile(callbacks, before);
  await page.context().close();
});

test("an integrator's page plays the archive with the module inside it", async () => {
  const page = `<!doctype html><div id="here"></div><script type="module">
    import { mountLesson } from './course/player/player.js';
    window.told = [];
    mountLesson({ element: document.getElementById('here'), base: './course', onReady: (event) => told.push(event) });
  </script>`;
  const folder = join(archive.path, '..');
  await writeFile(join(folder, 'mine.html'), page.replaceAll('./course', `./${archive.folder}`));
  const { page: opened, problems } = await lab.open(`${await lab.serve(folder)}/mine.html`);
  await opened.locator(titleOf).waitFor();
  expect(await opened.locator(titleOf).textContent()).toBe('Step 1');
  await opened.waitForFunction('window.told.length > 0');
  const { lessonId, versionId } = archive.manifest;
  expect(await opened.evaluate('window.told[0]')).toMatchObject({ lessonId, versionId, stepId: first });
  // The browser requests an icon for a page without one.
  expect(problems.filter((problem) => !problem.includes('favicon'))).toEqual([]);
  await opened.context().close();
});
