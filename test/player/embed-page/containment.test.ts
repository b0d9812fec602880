import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { buildLearnerToken } from '../../support/factories.ts';
import { waitFor } from '../../support/wait-for.ts';
import { answersIn, choose, press, seeStep, useEmbedLab } from './embed-lab.ts';
import { publishQuiz, publishWidget } from './lessons.ts';

const lab = useEmbedLab();

test('a forged score for a core widget changes nothing', async () => {
  const version = await publishQuiz(lab);
  const context = await lab.browser.newContext();
  await context.addInitScript(`{
    const { postMessage } = MessagePort.prototype;
    MessagePort.prototype.postMessage = function (message, ...rest) {
      if (message.item) Object.assign(message.item, { score: 1000, maxScore: 1000 });
      return postMessage.call(this, message, ...rest);
    };
  }`);
  const learner = await lab.open(version, { context });
  await press(learner, 'Next');
  await choose(learner, 'a');
  await waitFor('the answer', async () => answersIn(await lab.progressOf(version)).q2);
  expect(await lab.progressOf(version)).toMatchObject({ score: 0, maxScore: 3 });
});

test('a custom widget plays, keeps its answer, and its score is clamped to its bounds', async () => {
  const version = await publishWidget(
    lab,
    'Dial',
    `export default { type: 'Dial', mount(element, { state, context }) {
      element.innerHTML = '<button>' + (state ?? 'Turn') + '</button>';
      element.firstChild.onclick = () => context.answer('turned', { score: 3, maxScore: 4 });
      return { destroy() {} };
    } };`,
  );
  const learner = await lab.open(version);
  await press(learner, 'Turn');
  await waitFor('the answer', async () => answersIn(await lab.progressOf(version)).custom);
  expect(await lab.progressOf(version)).toMatchObject({ score: 3, maxScore: 5 });
  const again = await lab.open(version);
  await again.lesson.getByRole('button', { name: 'turned' }).waitFor();
});

test.each([
  ['throws while loading', `throw new Error('broken');`],
  ['throws while mounting', `export default { type: 'X', mount() { throw new Error('broken'); } };`],
  ['is no widget', `export default 1;`],
])('a widget that %s affects nothing else', async (_what, source) => {
  const version = await publishWidget(lab, `Broken${randomUUID().slice(0, 8)}`, source);
  const learner = await lab.open(version);
  await seeStep(learner, 's1');
  await learner.lesson.getByText('This part of the lesson isn’t available.').waitFor();
  await choose(learner, 'b');
  await waitFor('the answer', async () => answersIn(await lab.progressOf(version)).q1);
  expect(await learner.event('error')).toMatchObject({ code: expect.stringMatching(/^widget_/) as string });
});

test('a widget that never loads leaves the rest of the lesson usable', async () => {
  const version = await publishWidget(lab, 'Slow', '');
  const context = await lab.browser.newContext();
  await context.route('**/widgets/Slow.js', () => undefined);
  const learner = await lab.open(version, { context });
  await choose(learner, 'b');
  await waitFor('the answer', async () => answersIn(await lab.progressOf(version)).q1);
});

/** A widget that tries forbidden operations and shows the results. */
const thief = `
  const tries = {
    cookies: () => document.cookie,
    localStorage: () => localStorage.length,
    sessionStorage: () => sessionStorage.length,
    indexedDB: () => new Promise((resolve, reject) => {
      const request = indexedDB.open('x');
      request.onsuccess = () => resolve('opened');
      request.onerror = () => reject(request.error);
    }),
    parent: () => parent.document.title,
    top: () => top.document.title,
    address: () => parent.location.href,
    lessons: () => fetch(ADDRESS + '/api/lessons', { credentials: 'include' }).then((r) => 'status ' + r.status),
    session: () => fetch(ADDRESS + '/api/session', { credentials: 'include' }).then((r) => 'status ' + r.status),
    beacon: () => { if (!navigator.sendBeacon(ADDRESS + '/api/session', 'x')) throw new Error('refused'); return ''; },
    elsewhere: () => fetch(HOST).then((r) => 'status ' + r.status),
    leave: () => { top.location = 'about:blank'; return 'left'; },
  };
  export default { type: 'Thief', mount(element) {
    (async () => {
      for (const [name, attempt] of Object.entries(tries)) {
        const line = document.createElement('p');
        try { line.textContent = name + ': ' + await attempt(); } catch (error) { line.textContent = name + ': failed'; }
        element.append(line);
      }
      element.append(Object.assign(document.createElement('p'), { textContent: 'done' }));
    })();
    return { destroy() {} };
  } };`;

test('a widget cannot use cookies, storage, its parent page, or the API with the viewer’s session', async () => {
  const source = thief
    .replaceAll('ADDRESS', JSON.stringify(lab.address))
    .replace('HOST', JSON.stringify(lab.hostOrigin));
  const version = await publishWidget(lab, 'Thief', source);
  const context = await lab.browser.newContext();
  await context.addCookies([{ name: 'session', value: 'of-a-viewer', url: lab.address }]);
  const requests: string[] = [];
  const learner = await lab.open(version, { context });
  learner.page.on('request', (request) => requests.push(`${request.method()} ${request.url()}`));
  await learner.lesson.getByText('done', { exact: true }).waitFor();
  const lines = await learner.lesson
    .locator('p')
    .filter({ hasText: /^\w+: / })
    .allTextContents();
  expect(lines.filter((line) => !line.endsWith(': failed') && line !== 'beacon: ')).toEqual([]);
  expect(lines).toHaveLength(12);
  expect(requests.filter((request) => /\/api\/(lessons|session)$/.test(request))).toEqual([]);
  expect(await learner.page.title()).toBe('A course');
});

test('a widget does not learn who the learner is', async () => {
  const version = await publishWidget(
    lab,
    'Listener',
    `export default { type: 'Listener', mount(element) {
      addEventListener('message', ({ data }) => {
        if (data?.type === 'init') element.textContent = 'Told: ' + JSON.stringify({ ...data, lesson: null });
      });
      parent.postMessage({ source: 'lectern-frame', v: 1, type: 'hello' }, '*');
      return { destroy() {} };
    } };`,
  );
  const token = buildLearnerToken(version, {
    learnerId: 'ada',
    userAttributes: '{"email":"ada@school.example"}',
  });
  const learner = await lab.open(version, { token });
  const told = await learner.lesson.getByText('Told: ').textContent();
  expect(told).toContain('progressData');
  expect(told).not.toContain('ada');
});

test('a widget cannot navigate its frame to another site', async () => {
  const version = await publishWidget(
    lab,
    'Leaver',
    `export default { type: 'Leaver', mount(element) {
      element.innerHTML = '<button>Leave</button>';
      element.firstChild.onclick = () => { location.href = ${JSON.stringify(`${lab.hostOrigin}/elsewhere`)}; };
      return { destroy() {} };
    } };`,
  );
  const learner = await lab.open(version);
  const requests: string[] = [];
  learner.page.on('request', (request) => requests.push(request.url()));
  await press(learner, 'Leave');
  await waitFor('the refusal', () =>
    learner.page.frames().some((frame) => frame.url().startsWith('chrome-error:')),
  );
  expect(requests.filter((url) => url.endsWith('/elsewhere'))).toEqual([]);
});
