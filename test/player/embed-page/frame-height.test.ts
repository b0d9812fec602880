import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { publishLesson, section, step } from '../player-lessons.ts';
import { buildLaunchToken } from '../../support/factories.ts';
import { waitFor } from '../../support/wait-for.ts';
import { choose, hostPage, press, seeStep, useEmbedLab } from './embed-lab.ts';
import type { HostPage } from './embed-lab.ts';
import { publishWidget } from './lessons.ts';

const lab = useEmbedLab();
const viewport = { width: 1280, height: 720 };

/** Returns the frame's height once it stays the same for 60 frames, or has grown far too much. */
const settledHeight = ({ page }: HostPage) =>
  page.evaluate<number>(`new Promise((resolve) => {
    let [last, same] = [0, 0];
    (function look() {
      const { height } = document.querySelector('#course iframe').getBoundingClientRect();
      same = height === last ? same + 1 : 0;
      last = height;
      if (same > 60 || height > 20000) resolve(height);
      else requestAnimationFrame(look);
    })();
  })`);

const isScrolling = ({ lesson }: HostPage) =>
  lesson
    .locator('html')
    .evaluate<boolean, { scrollHeight: number; clientHeight: number }>(
      ({ scrollHeight, clientHeight }) => scrollHeight > clientHeight,
    );

/**
 * Returns the module of a widget with this HTML and a button that adds 300 pixels; it runs the
 * code after mounting.
 */
const widgetOf = (html: string, code = '') => `export default { mount(element) {
  element.innerHTML = ${JSON.stringify(`${html}<button>Grow</button>`)};
  element.lastChild.onclick = () => element.append(Object.assign(document.createElement('div'), { style: 'height: 300px' }));
  ${code}
  return { destroy() {} };
} };`;

test.each([
  ['100vh', '<div style="height: 100vh">Tall</div>', ''],
  ['50vh', '<div style="height: 50vh">Tall</div>', ''],
  [
    'as high as the window',
    '<div>Tall</div>',
    `const size = () => { element.firstChild.style.height = innerHeight + 'px'; };
    addEventListener('resize', size); size();`,
  ],
])('a widget of %s does not make the frame grow without end', async (name, html, code) => {
  const version = await publishWidget(lab, `Tall${name.replace(/\W/g, '')}`, widgetOf(html, code));
  const learner = await lab.open(version);
  await learner.page.setViewportSize(viewport);
  await learner.lesson.getByText('Tall').waitFor();
  const before = await settledHeight(learner);
  expect(before).toBeLessThan(3 * viewport.height);
  expect((await learner.event('resize')).height).toBe(before);
  // The frame follows the lesson's own growth, and all of it can be reached.
  await press(learner, 'Grow');
  expect(Math.abs((await settledHeight(learner)) - before - 300)).toBeLessThanOrEqual(2);
  await choose(learner, 'b');
  await press(learner, 'Finish');
});

test("a widget that copies the window's height with a delay does not make the frame grow without end", async () => {
  const code = `const size = () => setTimeout(() => { element.firstChild.style.height = innerHeight + 1 + 'px'; }, 20);
    addEventListener('resize', size); size();`;
  const version = await publishWidget(lab, 'Delayed', widgetOf('<div>Tall</div>', code));
  const learner = await lab.open(version);
  await learner.page.setViewportSize(viewport);
  await learner.lesson.getByText('Tall').waitFor();
  expect(await settledHeight(learner)).toBeLessThan(10 * viewport.height);
  await choose(learner, 'b');
  await press(learner, 'Finish');
});

test.each([
  [
    'grows whenever its frame has grown',
    `let times = 0; addEventListener('resize', () => {
    if ((times += 1) <= 6) element.append(Object.assign(document.createElement('div'), { style: 'height: 40px' }));
  });`,
  ],
  [
    'unfolds smoothly',
    `element.firstChild.animate([{ height: '0' }, { height: '900px' }], { duration: 700, fill: 'forwards' });`,
  ],
])('the frame becomes as high as a lesson that %s', async (name, code) => {
  const version = await publishWidget(lab, name.replace(/\W/g, ''), widgetOf('<div>Unfolded</div>', code));
  const learner = await lab.open(version);
  await learner.page.setViewportSize(viewport);
  await learner.lesson.getByText('Unfolded').waitFor();
  await press(learner, 'Grow');
  await settledHeight(learner);
  await waitFor('room for the lesson', async () => !(await isScrolling(learner)));
});

test('a learning platform that follows the reported heights does not get endless growth', async () => {
  const version = await publishWidget(lab, 'TallLaunched', widgetOf('<div style="height: 100vh">Tall</div>'));
  const page = await lab.browser.newPage({ viewport });
  await page.goto(`${lab.hostOrigin}/`);
  await page.evaluate(`{
    const frame = document.createElement('iframe');
    frame.height = 400;
    frame.src = '${lab.address}/embed/${version.lessonId}?token=${buildLaunchToken(version)}';
    addEventListener('message', ({ data }) => { if (data.subject === 'lti.frameResize') frame.height = data.height; });
    document.getElementById('course').append(frame);
  }`);
  const learner = hostPage(page);
  await learner.lesson.getByText('Tall').waitFor();
  expect(await settledHeight(learner)).toBeLessThan(3 * viewport.height);
});

test('elements sized by the visible height use that of the surrounding page, even in a high frame', async () => {
  const folder = new URL('../../../demo/lesson/media/', import.meta.url);
  const bytes = await readFile(new URL('319d284d-1f31-40a5-b1b7-f71e82a8f82d.webm', folder));
  const id = '5c6d7a3e-6f0f-4a7c-9d0f-0c9b0f6b5a11';
  const high = { type: 'Text', props: { id: 'high', html: '<p>Much to read.</p>'.repeat(40) } };
  const video = { type: 'Video', props: { id: 'video', src: `media:${id}` } };
  const version = await publishLesson(lab.harness, lab.organization, {
    media: [{ id, bytes, mimeType: 'video/webm', extension: 'webm' }],
    sections: [section('one', step('s1', video, high))],
  });
  const learner = await lab.open(version);
  await learner.page.setViewportSize({ width: 1280, height: 400 });
  await seeStep(learner, 's1');
  const heightOfVideo = async () => (await learner.lesson.locator('video').boundingBox())?.height;
  await waitFor('four fifths of 400 pixels', async () => (await heightOfVideo()) === 320);
  await learner.page.setViewportSize({ width: 1280, height: 300 });
  await waitFor('four fifths of 300 pixels', async () => (await heightOfVideo()) === 240);
});
