import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { message } from '../../../shared/i18n/message.ts';
import { buildLaunchToken, buildLearnerToken } from '../../support/factories.ts';
import { waitFor } from '../../support/wait-for.ts';
import { demoFolder } from '../archive-page/play-through.ts';
import { publishLesson, section, step } from '../player-lessons.ts';
import { choose, hostPage, press, publishQuiz, publishWidgets, seeStep, useEmbedLab } from './embed-lab.ts';
import type { HostPage } from './embed-lab.ts';

const lab = useEmbedLab();

test('a lesson has texts in its language, also in widgets that load later', async () => {
  const cards = [{ front: 'Spring tide', back: 'After a full moon' }];
  const flashcards = { type: 'Flashcards', props: { id: 'cards', cards } };
  const sections = [section('one', step('s1', flashcards))];
  const version = await publishLesson(lab.api, lab.api.organization, {
    lesson: { language: 'de-AT' },
    sections,
  });
  const { lesson } = await lab.open(version);
  for (const key of ['lesson.finish', 'flashcards.turn'] as const) {
    await lesson.getByRole('button', { name: message('de', key), exact: true }).waitFor();
  }
});

describe('the outer page trusts no widget:', () => {
  test('custom widgets play with their stylesheets, and keep their answers and scores', async () => {
    const Plain = `export default { mount(host) { host.append('Plain'); return { destroy() {} } } }`;
    const Dial = `export default { type: 'Dial', mount(element, { state, context }) {
      element.innerHTML = '<button>' + (state ?? 'Turn') + '</button>';
      element.firstChild.onclick = () => context.answer('turned', { score: 3, maxScore: 4 });
      return { destroy() {} };
    } };`;
    const version = await publishWidgets(lab, { Dial, Plain }, { Dial: '.lectern-slot { color: red }' });
    const context = await lab.browser.newContext();
    const files: string[] = [];
    context.on('request', (request) => {
      const [, file] = /\/content\/.*\/widgets\/(.+)$/.exec(request.url()) ?? [];
      if (file !== undefined) files.push(file);
    });
    const learner = await lab.open(version, { context });
    await learner.lesson.getByText('Plain', { exact: true }).waitFor();
    await press(learner, 'Turn');
    await lab.seeSaved(version, { Dial: 'turned' });
    // Only the stylesheets that exist are requested.
    expect(files.toSorted()).toEqual(['Dial.css', 'Dial.js', 'Plain.js']);
    expect(await lab.progressOf(version)).toMatchObject({ score: 3 });
    const again = await lab.open(version);
    await again.lesson.getByRole('button', { name: 'turned' }).waitFor();
  });

  test('a version from before its type was a core type plays and scores its own widget', async () => {
    const { db } = lab.api;
    const version = await publishWidgets(lab, {
      Matching: `export default { type: 'Matching', mount(element, { context }) {
        element.innerHTML = '<button>Own widget</button>';
        element.firstChild.onclick = () => context.answer('mine', { score: 1, maxScore: 2 });
        return { destroy() {} };
      } };`,
    });
    const own = await db.widgetReleases.findOne({
      type: 'Matching',
      organizationId: version.organizationId,
    });
    const pins = version.widgets.filter(({ type }) => type !== 'Matching');
    const widgets = [...pins, { type: 'Matching', widgetId: own?.widgetId }];
    await db.lessonVersions.updateOne({ _id: version._id }, { widgets });
    await press(await lab.open(version), 'Own widget');
    await lab.seeSaved(version, { Matching: 'mine' });
    expect(await lab.progressOf(version)).toMatchObject({ score: 2, maxScore: 5 });
  });

  test('modules that throw, export no widget, or never load affect nothing else', async () => {
    const version = await publishWidgets(lab, {
      ThrowsOnLoad: `throw new Error('broken');`,
      ThrowsOnMount: `export default { type: 'X', mount() { throw new Error('broken'); } };`,
      IsNone: `export default 1;`,
      NeverLoads: '',
    });
    const context = await lab.browser.newContext();
    await context.route('**/widgets/NeverLoads.js', () => undefined);
    const learner = await lab.open(version, { context });
    await seeStep(learner, 's1');
    const missing = learner.lesson.getByText('This part of the lesson isn’t available.');
    await expect.poll(() => missing.count(), { timeout: 20_000 }).toBe(3);
    await choose(learner, 'b');
    await lab.seeSaved(version, { q1: ['b'] });
    const widgetError: unknown = expect.stringMatching(/^widget_/);
    expect(await learner.errorCodes()).toEqual([widgetError, widgetError, widgetError]);
  });

  test('a frame that a widget keeps restarting harms only itself', async () => {
    const version = await publishWidgets(lab, {
      Restarter: `export default { type: 'Restarter', mount(element) {
        for (let time = 0; time < 30; time += 1) parent.postMessage({ source: 'lectern-frame', v: 1, type: 'hello' }, '*');
        element.innerHTML = '<button>Restarted</button>';
        return { destroy() {} };
      } };`,
    });
    const learner = await lab.open(version);
    await press(learner, 'Restarted');
    expect(await learner.errorCodes()).toEqual([]);
  });

  test('a widget reaches no cookies, storage, page, API or other site, and gets no identity of the learner', async () => {
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
        origin: () => { if (origin === 'null') throw new Error(origin); return origin; },
        parent: () => parent.document.title,
        top: () => top.document.title,
        location: () => parent.location.href,
        lessons: () => fetch('${lab.api.url}/api/lessons', { credentials: 'include' }).then((r) => 'status ' + r.status),
        session: () => fetch('${lab.api.url}/api/session', { credentials: 'include' }).then((r) => 'status ' + r.status),
        openapi: () => fetch('${lab.api.url}/openapi.json').then((r) => 'status ' + r.status),
        beacon: () => { if (!navigator.sendBeacon('${lab.api.url}/api/session', 'x')) throw new Error('blocked'); return ''; },
        elsewhere: () => fetch('${lab.hostOrigin}').then((r) => 'status ' + r.status),
        leave: () => { top.location = 'about:blank'; return 'left'; },
      };
      export default { type: 'Thief', mount(element) {
        element.innerHTML = '<button>Leave</button>';
        element.firstChild.onclick = () => { location.href = '${lab.hostOrigin}/elsewhere'; };
        const show = (textContent) => element.append(Object.assign(document.createElement('p'), { textContent }));
        addEventListener('message', ({ data }) => {
          if (data?.type === 'init') show('heard ' + JSON.stringify({ ...data, lesson: null }));
        });
        (async () => {
          for (const [name, attempt] of Object.entries(tries)) {
            try { show(name + ': ' + await attempt()); } catch (error) { show(name + ': failed'); }
          }
          show('done');
          parent.postMessage({ source: 'lectern-frame', v: 1, type: 'hello' }, '*');
        })();
        return { destroy() {} };
      } };`;
    const version = await publishWidgets(lab, { Thief: thief });
    const context = await lab.browser.newContext();
    await context.addCookies([{ name: 'session', value: 'of-a-viewer', url: lab.api.url }]);
    const requests: string[] = [];
    context.on('request', (request) => requests.push(request.url()));
    const ada = { learnerId: 'learner-ada', userAttributes: '{"email":"ada@school.example"}' };
    const learner = await lab.open(version, { context, token: buildLearnerToken(version, ada) });
    const heard = await learner.lesson.getByText('heard ').textContent();
    expect(heard).toContain('progressData');
    expect(heard).not.toMatch(/learner-ada|ada@school/);
    const paragraphs = learner.lesson.locator('p').filter({ hasText: /^\w+: / });
    const lines = await paragraphs.allTextContents();
    expect(lines.filter((line) => !line.endsWith(': failed') && line !== 'beacon: ')).toEqual([]);
    expect(lines).toHaveLength(14);
    await press(learner, 'Leave');
    await waitFor('the blocked navigation', () =>
      learner.page.frames().some((frame) => frame.url().startsWith('chrome-error:')),
    );
    const forbidden = /\/api\/(lessons|session)$|\/openapi.json$|\/elsewhere$/;
    expect(requests.filter((url) => forbidden.test(url))).toEqual([]);
    expect(await learner.page.title()).toBe('A course');
  });
});

describe('the frame is as high as the lesson', () => {
  const viewport = { width: 1280, height: 720 };

  async function openIn(size: typeof viewport, modules: Record<string, string>): Promise<HostPage> {
    const version = await publishWidgets(lab, modules);
    const context = await lab.browser.newContext({ viewport: size });
    return lab.open(version, { context });
  }

  /** Returns the frame's height once it stays the same for this time, or has grown far too much. */
  const settledHeight = ({ page }: HostPage, quietMs = 500) =>
    page.evaluate<number>(`new Promise((resolve) => {
      let timer;
      new ResizeObserver(([{ contentRect: { height } }]) => {
        clearTimeout(timer);
        timer = setTimeout(resolve, height > 20000 ? 0 : ${quietMs}, height);
      }).observe(document.querySelector('#course iframe'));
    })`);

  /** Returns a widget's module: this HTML, a button that adds 300 pixels, and code to run after mounting. */
  const widgetOf = (html: string, code = '') => `export default { mount(element) {
    element.innerHTML = ${JSON.stringify(`${html}<button>Grow</button>`)};
    element.lastChild.onclick = () => element.append(Object.assign(document.createElement('div'), { style: 'height: 300px' }));
    ${code}
    return { destroy() {} };
  } };`;
  const copyHeight = (size: string) =>
    `const size = () => ${size}; addEventListener('resize', size); size();`;

  test('at each step and width', async () => {
    const learner = await lab.open(await publishQuiz(lab));
    const { page, event, lesson } = learner;
    async function expectFit(): Promise<void> {
      await waitFor('the height of the lesson', async () => {
        const { height } = await event('resize');
        const shown = await lesson.locator('.lectern-lesson').boundingBox();
        const frame = await page.locator('#course iframe').boundingBox();
        return height === Math.ceil(shown?.height ?? 0) && frame?.height === Math.max(320, Number(height));
      });
    }
    await seeStep(learner, 's1');
    await expectFit();
    await press(learner, 'Next');
    await choose(learner, 'b');
    await expectFit();
    await page.setViewportSize({ width: 320, height: 700 });
    await expectFit();
  });

  test.each([
    ['100vh', '<div style="height: 100vh">Tall</div>', ''],
    [
      'as high as the window',
      '<div>Tall</div>',
      copyHeight(`element.firstChild.style.height = innerHeight + 'px'`),
    ],
  ])('but does not grow without end with a widget of %s', async (name, html, code) => {
    const learner = await openIn(viewport, { [`Tall${name.replace(/\W/g, '')}`]: widgetOf(html, code) });
    await learner.lesson.getByText('Tall').waitFor();
    const before = await settledHeight(learner);
    expect(before).toBeLessThan(3 * viewport.height);
    expect((await learner.event('resize')).height).toBe(before);
    // The frame follows the lesson's own growth.
    await press(learner, 'Grow');
    expect(Math.abs((await settledHeight(learner)) - before - 300)).toBeLessThanOrEqual(2);
  });

  test("but does not grow without end with a widget that copies the window's height late, and hides nothing", async () => {
    const code = copyHeight(
      `setTimeout(() => { element.firstChild.style.height = innerHeight + 1 + 'px'; }, 20)`,
    );
    const learner = await openIn(viewport, { Delayed: widgetOf('<div>Tall</div>', code) });
    await learner.lesson.getByText('Tall').waitFor();
    // Longer than the pauses between steps of growth.
    expect(await settledHeight(learner, 2_000)).toBeLessThan(10 * viewport.height);
    // Growth after the learner's action waits for the end of the press, so the button stays under the pointer.
    const choice = learner.lesson.getByRole('radio', { name: 'b', exact: true });
    await choice.click({ delay: 300 });
    expect(await choice.isChecked()).toBe(true);
    await settledHeight(learner, 2_000);
    await press(learner, 'Check answer');
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
  ])('also when the lesson %s', async (name, code) => {
    const learner = await openIn(viewport, {
      [name.replace(/\W/g, '')]: widgetOf('<div>Unfolded</div>', code),
    });
    await learner.lesson.getByText('Unfolded').waitFor();
    await press(learner, 'Grow');
    await settledHeight(learner);
    const isScrolling = `document.documentElement.scrollHeight > document.documentElement.clientHeight`;
    const frame = learner.page.frames().find((each) => each.url().endsWith('/frame.html'));
    await waitFor('room for the lesson', async () => !(await frame?.evaluate<boolean>(isScrolling)));
  });

  test('and does not grow without end in a learning platform that follows the reported heights', async () => {
    const version = await publishWidgets(lab, {
      TallLaunched: widgetOf('<div style="height: 100vh">Tall</div>'),
    });
    const page = await lab.browser.newPage({ viewport });
    await page.goto(lab.hostOrigin);
    await page.evaluate(`{
      const frame = document.createElement('iframe');
      frame.height = 400;
      frame.src = '${lab.api.url}/embed/${version.lessonId}?token=${buildLaunchToken(version)}';
      addEventListener('message', ({ data }) => { if (data.subject === 'lti.frameResize') frame.height = data.height; });
      document.getElementById('course').append(frame);
    }`);
    const learner = hostPage(page);
    await learner.lesson.getByText('Tall').waitFor();
    expect(await settledHeight(learner)).toBeLessThan(3 * viewport.height);
  });

  test('and elements sized by the visible height follow that of the surrounding page', async () => {
    const bytes = await readFile(join(demoFolder, 'media', '319d284d-1f31-40a5-b1b7-f71e82a8f82d.webm'));
    const id = '5c6d7a3e-6f0f-4a7c-9d0f-0c9b0f6b5a11';
    const high = { type: 'Text', props: { id: 'high', html: '<p>Much to read.</p>'.repeat(40) } };
    const video = { type: 'Video', props: { id: 'video', src: `media:${id}` } };
    const version = await publishLesson(lab.api, lab.api.organization, {
      media: [{ id, bytes, mimeType: 'video/webm', extension: 'webm' }],
      sections: [section('one', step('s1', video, high))],
    });
    const context = await lab.browser.newContext({ viewport: { width: 1280, height: 400 } });
    const learner = await lab.open(version, { context });
    await seeStep(learner, 's1');
    const heightOfVideo = async () => (await learner.lesson.locator('video').boundingBox())?.height;
    await waitFor('four fifths of 400 pixels', async () => (await heightOfVideo()) === 320);
    await learner.page.setViewportSize({ width: 1280, height: 300 });
    await waitFor('four fifths of 300 pixels', async () => (await heightOfVideo()) === 240);
  });
});
