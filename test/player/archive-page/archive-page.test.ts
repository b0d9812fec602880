import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { bytesOf } from '../../../shared/storage/digest.ts';
import { releaseWidget } from '../../../shared/widgets/releases.ts';
import { faultsIn } from '../../support/axe.ts';
import { buildPackage, buildVersion } from '../../support/factories.ts';
import { waitFor } from '../../support/wait-for.ts';
import { useArchiveLab, ways } from './archive-lab.ts';
import type { Unpacked } from './archive-lab.ts';
import { demoFolder, playThrough, readDemoLesson, shortenDemo, smallScreen } from './play-through.ts';

const lab = useArchiveLab();
const [onServer, inFolder] = ways;

async function unpackPackage(content: Parameters<typeof buildPackage>[0]): Promise<Unpacked> {
  const { path } = await buildPackage(content);
  return lab.unpack(await buildVersion(lab.api, lab.api.organization, path));
}

test('a lesson with each core widget plays from first step to last in the unpacked folder, and reports it', async () => {
  const folder = await shortenDemo();
  const lesson = await readDemoLesson(folder);
  const archive = await lab.unpack(await buildVersion(lab.api, lab.api.organization, folder));
  const context = await lab.browser.newContext({ viewport: smallScreen });
  const { page, problems, events } = await lab.open(archive.urls[inFolder], context);
  await playThrough(page, lesson);

  const { steps, maxScore, content } = lesson;
  const last = steps.at(-1)?.id;
  const named = async (wanted: string) =>
    (await events()).filter(({ name }) => name === wanted).map(({ event }) => event);
  const changes = await named('onStepChange');
  // The last one is the page after the last step; the saved position does not change there.
  expect(changes.map(({ stepId }) => stepId)).toEqual([...steps.slice(1).map(({ id }) => id), last]);
  const { lessonId, versionId } = archive.manifest;
  expect(await named('onComplete')).toEqual([
    {
      ...{ lessonId, versionId, stepId: last, totalSteps: steps.length, score: maxScore, maxScore },
      sectionIndex: content.sections.length - 1,
      stepIndex: steps.length / content.sections.length - 1,
      items: lesson.questions.map(
        ({ widgetId, widgetType }) => expect.objectContaining({ widgetId, widgetType }) as unknown,
      ),
      progressData: expect.objectContaining({ completed: true, atEnd: true }) as unknown,
      variableState: expect.any(Object) as unknown,
      at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as unknown,
    },
  ]);
  expect([await named('onError'), problems]).toEqual([[], []]);
});

describe('an archive with a custom widget, captions and credits', () => {
  /** Would end a script element, or hide its end, if it were not escaped. */
  const hostile = '</script><script>window.broken = 1</script><!--<script>\u2028\u{1F30A}';
  const poll = `export default {
    type: 'Poll',
    mount(element, { props, state, context }) {
      const button = document.createElement('button');
      button.className = 'poll';
      const image = new Image();
      const reach = (read) => { try { read(); return 'reached'; } catch { return 'blocked'; } };
      image.onload = image.onerror = () => {
        element.append(Object.assign(document.createElement('output'), { textContent: [
          image.naturalWidth, getComputedStyle(button).borderTopColor,
          reach(() => document.cookie), reach(() => parent.document.title), reach(() => localStorage.length),
        ].join(' ') }));
      };
      image.src = context.resolveMedia(props.picture);
      button.textContent = state ?? ${JSON.stringify(hostile)};
      button.addEventListener('click', () => context.answer('yes', { score: 2, maxScore: 3 }));
      element.append(button);
      return { destroy: () => button.remove() };
    },
  };
  `;
  // Longer than a read buffer, with multi-byte characters at the chunk boundaries.
  const longPoll = `${poll}// ${'é€🌊'.repeat(40_000)}\n`;
  const video = '319d284d-1f31-40a5-b1b7-f71e82a8f82d';
  const picture = '0d4b6a52-6f8c-4f4e-9d0e-5a9f0a4b7c21';
  const pixel = Buffer.from('R0lGODlhAwABAIAAAAAAAP///yH5BAAAAAAALAAAAAADAAEAAAICjAsAOw==', 'base64');
  const captions = '1712b347-2fb7-4d3c-af96-1c8a5b529337';
  const demoFile = (name: string) => readFile(join(demoFolder, 'media', name));

  let archive: Unpacked;
  beforeAll(async () => {
    await releaseWidget(lab.api.db, lab.api.store, {
      organizationId: lab.api.organization._id,
      type: 'Poll',
      js: bytesOf(Buffer.from(longPoll)),
      css: bytesOf(Buffer.from('.poll { border-color: rgb(1, 2, 3) }\n')),
    });
    const attribution = {
      text: `<b>A. Painter</b> ${hostile}`,
      url: 'javascript:alert(1)',
      portfolioUrl: 'https://example.org/a?b&c',
    };
    archive = await unpackPackage({
      slug: 'all-kinds',
      lesson: { title: `Tide & "time" ${hostile}`, language: 'ar' },
      media: [
        { id: picture, bytes: pixel, mimeType: 'image/gif', extension: 'gif' },
        { id: video, bytes: await demoFile(`${video}.webm`), mimeType: 'video/webm', extension: 'webm' },
        {
          ...{ id: captions, bytes: await demoFile(`${captions}.vtt`), attribution },
          ...{ mimeType: 'text/vtt', extension: 'vtt' },
        },
      ],
      blocks: () => [
        { type: 'Poll', props: { id: 'Poll-1', points: 3, picture: `media:${picture}` } },
        { type: 'Text', props: { id: 'Text-1', html: `<p>${hostile.replaceAll('<', '&lt;')}</p>` } },
        { type: 'Video', props: { id: 'Video-1', src: `media:${video}`, captions: `media:${captions}` } },
      ],
    });
  });

  test.each(ways)(
    'runs the widget in a frame of its own, with styles and pictures, has captions, and lets no text break out of its element, from %s',
    async (way) => {
      const { page, problems, events } = await lab.open(archive.urls[way]);
      const widget = page.locator('.lectern-widget-frame').contentFrame();
      expect(await widget.locator('output').textContent()).toBe('3 rgb(1, 2, 3) blocked blocked blocked');
      const button = widget.locator('.poll');
      expect(await button.textContent()).toBe(hostile);
      await button.click();
      const points = { score: 2, maxScore: 3 };
      const item = { widgetId: 'Poll-1', widgetType: 'Poll', answer: 'yes', ...points };
      const answers = async () => (await events()).filter(({ name }) => name === 'onAnswer');
      await expect.poll(answers).toMatchObject([{ event: { ...points, items: [item] } }]);

      await expect
        .poll(() => page.evaluate(`document.querySelector('track').track.cues?.length > 0`))
        .toBe(true);
      const first = await page.evaluate<string>(`document.querySelector('track').track.cues[0].text`);
      expect(String(archive.files.get(`media/${captions}.vtt`))).toContain(first);

      expect(await page.evaluate('window.broken')).toBeUndefined();
      expect(await page.title()).toBe(`A step – Tide & "time" ${hostile}`);
      const credit = page.locator('.lectern-credits li');
      expect(await credit.textContent()).toBe(`<b>A. Painter</b> ${hostile} (https://example.org/a?b&c)`);
      expect(await credit.locator('a').count()).toBe(1);
      expect(await credit.locator('a').getAttribute('href')).toBe('https://example.org/a?b&c');
      expect(problems).toEqual([]);
    },
  );

  test('plays in a sandboxed frame without an origin', async () => {
    const frame = `<!doctype html><iframe sandbox="allow-scripts" src="./${archive.folder}/index.html"></iframe>`;
    const folder = join(archive.path, '..');
    await writeFile(join(folder, 'frame.html'), frame);
    const { page } = await lab.open(`${await lab.serve(folder)}/frame.html`);
    await page.frameLocator('iframe').frameLocator('iframe').locator('.poll').click();
    const names = 'window.events.map(({ name }) => name)';
    await expect.poll(() => page.frames()[1]?.evaluate(names)).toContain('onAnswer');
  });

  test("has the lesson's language and direction, and no axe-core violation, light and dark", async () => {
    const { page } = await lab.open(archive.urls[onServer]);
    const summary = page.locator('.lectern-credits summary');
    expect(await summary.textContent()).toBe('الحقوق والمصادر');
    expect(await page.locator('html[lang="ar"][dir="rtl"]').count()).toBe(1);
    await summary.click();
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      const rules = colorScheme === 'dark' ? ['color-contrast'] : undefined;
      expect(await faultsIn(page, rules)).toEqual([]);
    }
  });
});

describe('progress', () => {
  const question = (id: string) => ({
    type: 'MultipleChoice',
    props: {
      ...{ id, prompt: 'Which?', correct: ['b'], points: 2 },
      choices: ['a', 'b'].map((choice) => ({ id: choice, html: choice })),
    },
  });
  const essay = { type: 'OpenResponse', props: { id: 'Essay', prompt: 'Why?' } };
  const steps = [1, 2, 3].map((number) => ({
    ...{ id: randomUUID(), title: `Step ${number}`, order_index: number },
    content: {
      root: { props: {} },
      content: [question(`Question-${number}`), ...(number === 3 ? [essay] : [])],
    },
  }));
  const [first = '', second = '', third = ''] = steps.map(({ id }) => id);
  const sectionsOf = () => [{ id: randomUUID(), title: 'A section', order_index: 0, steps }];

  let archive: Unpacked;
  let other: Unpacked;
  beforeAll(async () => {
    archive = await unpackPackage({ slug: 'one', sections: sectionsOf() });
    other = await unpackPackage({ slug: 'another', sections: sectionsOf() });
  });

  const titleOf = (page: Page) => page.locator('.lectern-step-title').textContent();
  const goNext = (page: Page) => page.locator('.lectern-steps button').last().click();
  async function choose(page: Page, choice: string): Promise<void> {
    await page.locator(`input[value="${choice}"]`).check();
    await page.locator('.lectern-actions button').first().click();
  }

  test('resumes at the same step with the same answers', async () => {
    const context = await lab.browser.newContext();
    const { page } = await lab.open(archive.urls[onServer], context);
    await choose(page, 'b');
    await goNext(page);
    await choose(page, 'a');
    await page.close();

    const again = await lab.open(archive.urls[onServer], context);
    expect(await titleOf(again.page)).toBe('Step 2');
    expect(await again.page.locator('input[value="a"]').isChecked()).toBe(true);
    const position = { sectionIndex: 0, stepIndex: 1, stepId: second, totalSteps: 3 };
    const items = [
      { widgetId: 'Question-1', answer: ['b'], score: 2 },
      { widgetId: 'Question-2', answer: ['a'], score: 0 },
    ];
    const progressData = { visited: [first, second], completed: false };
    const event = { ...position, score: 2, maxScore: 6, items, progressData };
    expect(await again.events()).toMatchObject([{ name: 'onReady', event }]);
    expect(again.problems).toEqual([]);
  });

  test('from two tabs is kept and shown in both, even in a folder', async () => {
    const context = await lab.browser.newContext();
    const { page: one } = await lab.open(archive.urls[inFolder], context);
    const { page: two } = await lab.open(`${archive.urls[inFolder]}#${third}`, context);
    await two.locator('textarea').fill('Not submitted yet');
    await choose(one, 'b');
    // The second tab has received it at its own step, and its unsubmitted text is now an answer.
    await waitFor('the text in the browser', () =>
      one.evaluate<boolean>(`Object.values(localStorage).join().includes('Not submitted yet')`),
    );
    await choose(two, 'a');
    expect(await titleOf(two)).toBe('Step 3');
    await goNext(one);
    await one.close();
    await two.close();

    const { page, events } = await lab.open(archive.urls[inFolder], context);
    expect(await titleOf(page)).toBe('Step 2');
    const [ready] = await events();
    const items = ready?.event.items as { widgetId: string; answer: unknown }[];
    const answers = Object.fromEntries(items.map(({ widgetId, answer }) => [widgetId, answer]));
    expect(answers).toEqual({ 'Question-1': ['b'], 'Question-3': ['a'], Essay: 'Not submitted yet' });
  });

  test('in two lessons opened from folders is kept apart', async () => {
    const context = await lab.browser.newContext();
    const { page } = await lab.open(archive.urls[inFolder], context);
    await goNext(page);
    const fresh = await lab.open(other.urls[inFolder], context);
    expect(await titleOf(fresh.page)).toBe('Step 1');
  });

  test("starts at the step that the URL names, and resumes at the learner's step after a reload", async () => {
    const { page, problems } = await lab.open(`${archive.urls[inFolder]}#${second}`);
    expect(await titleOf(page)).toBe('Step 2');
    await goNext(page);
    await page.reload();
    expect(await titleOf(page)).toBe('Step 3');
    expect(problems).toEqual([]);
  });

  test('Back and Forward go through steps and the end, and the URL names the step, also in a folder', async () => {
    const { page, problems } = await lab.open(archive.urls[inFolder]);
    for (let step = 0; step < 3; step += 1) await goNext(page);
    await page.getByRole('dialog').getByRole('button', { name: 'Finish' }).click();
    await expect.poll(() => titleOf(page)).toBe('Lesson complete');
    for (const title of ['Step 3', 'Step 2']) {
      await page.goBack();
      await expect.poll(() => titleOf(page)).toBe(title);
      await expect.poll(() => page.title()).toMatch(new RegExp(`^${title} – .`));
    }
    expect(page.url()).toBe(`${archive.urls[inFolder]}#${second}`);
    for (const title of ['Step 3', 'Lesson complete']) {
      await page.goForward();
      await expect.poll(() => titleOf(page)).toBe(title);
    }
    await page.reload();
    expect(await titleOf(page)).toBe('Lesson complete');
    expect(problems).toEqual([]);
  });

  test('in a browser without storage lasts as long as the page, which reports one error', async () => {
    const context = await lab.browser.newContext();
    await context.addInitScript(`Storage.prototype.setItem = () => { throw new Error('no room'); }`);
    const { page, events } = await lab.open(archive.urls[onServer], context);
    await goNext(page);
    await goNext(page);
    expect(await titleOf(page)).toBe('Step 3');
    const errors = (await events()).filter(({ name }) => name === 'onError');
    expect(errors.map(({ event }) => event.code)).toEqual(['progress_not_kept']);
  });

  test('reaches DOM listeners as well as callbacks, and a callback that throws stops nothing', async () => {
    const { page, problems } = await lab.open(archive.urls[onServer]);
    await page.evaluate(`
      window.heard = [];
      document.addEventListener('lectern:step', ({ detail }) => window.heard.push(detail.stepId));
      window.lectern.onStepChange = () => { throw new Error('the site has a fault'); };
    `);
    await goNext(page);
    await goNext(page);
    expect(await page.evaluate('window.heard')).toEqual([second, third]);
    expect(problems).toEqual(['the site has a fault', 'the site has a fault']);
  });

  test('comes from a site that stores it itself, and the browser then stores nothing', async () => {
    const progressData = { visited: [first, second, third] };
    const stored = { stepId: third, items: [], variableState: {}, progressData };
    const callbacks = join(other.path, 'player', 'callbacks.js');
    const before = await readFile(callbacks, 'utf8');
    await writeFile(callbacks, `${before}\nwindow.lectern.state = ${JSON.stringify(stored)};\n`);
    const { page } = await lab.open(other.urls[onServer]);
    expect(await titleOf(page)).toBe('Step 3');
    await page.locator('.lectern-steps button').first().click();
    expect(await page.evaluate('localStorage.length')).toBe(0);
  });

  test("is reported to an integrator's page that plays the archive with the module inside it", async () => {
    const html = `<!doctype html><div id="here"></div><script type="module">
      import { mountLesson } from './${archive.folder}/player/player.js';
      const element = document.getElementById('here');
      mountLesson({ element, base: './${archive.folder}', onReady: (event) => { window.ready = event; } });
    </script>`;
    const folder = join(archive.path, '..');
    await writeFile(join(folder, 'mine.html'), html);
    const { page, problems } = await lab.open(`${await lab.serve(folder)}/mine.html`);
    await expect.poll(() => page.evaluate('window.ready')).toBeTruthy();
    const { lessonId, versionId } = archive.manifest;
    expect(await page.evaluate('ready')).toMatchObject({ lessonId, versionId, stepId: first });
    expect(await titleOf(page)).toBe('Step 1');
    // The browser requests an icon for a page without one.
    expect(problems.filter((problem) => !problem.includes('favicon'))).toEqual([]);
  });
});
