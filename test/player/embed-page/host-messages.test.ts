import { expect, test } from 'vitest';
import { setOrganizationOrigins } from '../../../shared/models/organization.ts';
import { buildLearnerToken, buildOrganization } from '../../support/factories.ts';
import { waitFor } from '../../support/wait-for.ts';
import { press, seeStep, useEmbedLab } from './embed-lab.ts';
import type { HostPage } from './embed-lab.ts';
import { publishQuiz, publishWidget } from './lessons.ts';

const lab = useEmbedLab();

async function errorCodes({ events }: HostPage): Promise<unknown[]> {
  return (await events()).filter(({ type }) => type === 'error').map(({ code }) => code);
}

test('the lesson accepts messages only from its parent page', async () => {
  const version = await publishQuiz(lab);
  const learner = await lab.open(version);
  await seeStep(learner, 's1');
  const token = buildLearnerToken(version, { learnerId: 'somebody else' });
  const message = JSON.stringify({ source: 'lectern', v: 1, type: 'setToken', token });
  await learner.page.evaluate(`new Promise((resolve) => {
    const frame = document.createElement('iframe');
    frame.sandbox = 'allow-scripts';
    frame.srcdoc = '<script>' + ${JSON.stringify(`parent.frames[0].postMessage(${message}, '*'); parent.postMessage('sent', '*');`)} + '</' + 'script>';
    addEventListener('message', ({ data }) => data === 'sent' && resolve());
    document.body.append(frame);
  })`);
  // When this message is answered, all earlier ones have been handled.
  await learner.page.evaluate(`embed.setToken('no token')`);
  await waitFor('the refusal', async () => (await errorCodes(learner)).includes('token_invalid'));
  expect(await errorCodes(learner)).toEqual(['token_invalid']);
});

test('messages outside the protocol are ignored', async () => {
  const version = await publishQuiz(lab);
  const learner = await lab.open(version);
  await seeStep(learner, 's1');
  await learner.page.evaluate(`
    for (const message of [null, 1, 'setToken', [], {}, { type: 'setToken', token: 'x' },
      { source: 'lectern', v: 2, type: 'setToken', token: 'x' }, { source: 'lectern', v: 1, type: 'setToken', token: {} },
      { source: 'lectern', v: 1, type: 'setToken', token: 'x'.repeat(100000) }, { source: 'lectern', v: 1, type: 'eval' },
      { source: 'lectern', v: 1, type: 'goTo', stepId: 7 }, { source: 'lectern', v: 1, type: 'goTo', stepId: 'nowhere' }]) {
      embed.iframe.contentWindow.postMessage(message, '*');
    }
    embed.goTo('s3');
  `);
  await seeStep(learner, 's3');
  expect(await errorCodes(learner)).toEqual([]);
});

test('a step requested by the host page before the lesson has loaded is shown once it has', async () => {
  const version = await publishQuiz(lab);
  const learner = await lab.open(version);
  await learner.page.evaluate(`embed.goTo('s3')`);
  await seeStep(learner, 's3');
});

test('the host page gets messages only from the lesson, not forged ones from widgets or other pages', async () => {
  const version = await publishWidget(
    lab,
    'Liar',
    `export default { type: 'Liar', mount(element) {
      const lie = { source: 'lectern', v: 1, type: 'complete', score: 1, maxScore: 1 };
      top.postMessage(lie, '*');
      parent.postMessage(lie, '*');
      parent.postMessage({ source: 'lectern', v: 1, type: 'setToken', token: 'x' }, '*');
      element.innerHTML = '<button>Told</button>';
      return { destroy() {} };
    } };`,
  );
  const learner = await lab.open(version);
  await learner.page.evaluate(`window.postMessage({ source: 'lectern', v: 1, type: 'complete' }, '*')`);
  await press(learner, 'Told');
  await learner.event('ready');
  const types = new Set((await learner.events()).map(({ type }) => type));
  expect([...types].sort()).toEqual(['ready', 'resize']);
});

test('a frame that a widget keeps reloading harms only itself', async () => {
  const version = await publishWidget(
    lab,
    'Loader',
    `export default { type: 'Loader', mount(element) {
      element.innerHTML = '<button>Load</button>';
      element.firstChild.onclick = () => parent.postMessage({ source: 'lectern-frame', v: 1, type: 'hello' }, '*');
      return { destroy() {} };
    } };`,
  );
  const learner = await lab.open(version);
  for (let time = 0; time < 30; time += 1) await press(learner, 'Load');
  expect(await errorCodes(learner)).toEqual([]);
  await learner.lesson.getByRole('button', { name: 'Load' }).waitFor();
});

test('a page that the organization does not allow gets no lesson; an allowed page does', async () => {
  const { organization } = await buildOrganization(lab.harness);
  const version = await publishQuiz({ ...lab, organization });
  await setOrganizationOrigins(lab.harness.db, organization.slug, ['https://lms.example']);
  const blocked = await lab.open(version);
  await waitFor("the frame's error", () =>
    blocked.page.frames().some((frame) => frame.url().startsWith('chrome-error:')),
  );
  expect(await blocked.events()).toEqual([]);

  await setOrganizationOrigins(lab.harness.db, organization.slug, ['https://lms.example', lab.hostOrigin]);
  const allowed = await lab.open(version);
  await seeStep(allowed, 's1');
  expect(await allowed.event('ready')).toMatchObject({ lessonId: version.lessonId });
});

test('an element with a lesson id mounts by itself and dispatches DOM events', async () => {
  const version = await publishQuiz(lab);
  const page = await lab.browser.newPage();
  await page.goto(`${lab.hostOrigin}/`);
  await page.evaluate(`{
    const element = document.createElement('div');
    element.dataset.lecternEmbed = '${version.lessonId}';
    element.dataset.token = '${buildLearnerToken(version)}';
    addEventListener('lectern:ready', ({ detail, target }) => { told = [detail.title, target === element]; });
    document.body.append(element, Object.assign(document.createElement('script'), { src: '${lab.address}/embed.js' }));
  }`);
  await page.waitForFunction('window.told');
  expect(await page.evaluate('told')).toEqual(['A lesson', true]);
});
