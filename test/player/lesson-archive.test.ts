import { beforeEach, describe, expect, it } from 'vitest';
import { useLessonPage } from './player-lab.ts';
import { lessonOf, text } from './samples.ts';

const { lab, view, page } = useLessonPage();
beforeEach(() => {
  lab.files.clear();
  view.requests.length = 0;
});

const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8"/>';
const Shout = `export default { type: 'Shout', mount(element, { props }) {
  element.className = 'shout';
  element.append(props.words);
  return { destroy() {} };
} };`;

function putArchive(manifest?: unknown): void {
  const lesson = lessonOf({
    Near: {
      Mercury: [
        { type: 'Image', props: { id: 'i1', src: './media/one.svg', alt: 'One' } },
        text('t1', '<img src="media:two" alt="Two">'),
        { type: 'Shout', props: { id: 's1', words: 'Hear me' } },
      ],
    },
  });
  lab.files.set('/course/lesson.json', JSON.stringify(lesson));
  lab.files.set('/course/media/one.svg', svg);
  lab.files.set('/course/media/two.svg', svg);
  lab.files.set('/course/widgets/shout.js', Shout);
  lab.files.set('/course/widgets/shout.css', '.shout { color: rgb(1, 2, 3); }');
  lab.files.set('/elsewhere.js', Shout);
  if (manifest !== undefined) lab.files.set('/course/manifest.json', JSON.stringify(manifest));
}

const versionId = '33333333-3333-4333-8333-333333333333';
const manifest = {
  versionId,
  files: {
    media: [{ id: 'TWO', localPath: './media/two.svg' }],
    widgets: [{ widgetType: 'Shout', localPath: './widgets/shout.js', cssLocalPath: './widgets/shout.css' }],
  },
};

describe('an unpacked archive', () => {
  it('plays from its folder, with lesson, media, styled widgets and version', async () => {
    putArchive(manifest);
    await view.start({ base: 'course' });
    const widget = page.locator('.lectern-widget-frame').contentFrame();
    await widget.getByText('Hear me').waitFor();
    const shout = page.frames().find((frame) => frame.parentFrame() !== null);
    expect(await shout?.evaluate('getComputedStyle(document.querySelector(".shout")).color')).toBe(
      'rgb(1, 2, 3)',
    );
    await page.waitForFunction('[...document.images].every((image) => image.naturalWidth > 0)');
    expect(await page.evaluate('[...document.images].map((image) => image.src)')).toEqual([
      `${lab.origin}/course/media/one.svg`,
      `${lab.origin}/course/media/two.svg`,
    ]);
    expect((await view.calls('onReady'))[0]).toMatchObject({ versionId });
  });

  it('mounts a widget with the newest props, and loads each of its files once', async () => {
    const Pick = `export default { type: 'Pick', mount(element, { props, context }) {
      for (const name of ['one', 'two']) {
        const button = document.createElement('button');
        button.append(name);
        button.onclick = () => context.setVariable('pick', name);
        element.append(button);
      }
    } };`;
    const Show = `const urls = new Set();
    export default { type: 'Show', mount(element, { props, context }) {
      urls.add(context.resolveMedia(props.file));
      element.append(props.file, ' of ' + urls.size);
    } };`;
    const shown = [
      { type: 'Pick', props: { id: 'p1' } },
      { type: 'Show', props: { id: 's1', file: './media/{{pick}}.svg' } },
    ];
    const variable_definitions = [{ name: 'pick', type: 'string', initialValue: 'one' }];
    putArchive({
      files: {
        media: [],
        widgets: ['Pick', 'Show'].map((widgetType) => ({
          widgetType,
          localPath: `./widgets/${widgetType}.js`,
        })),
      },
    });
    lab.files.set('/course/widgets/Pick.js', Pick);
    lab.files.set('/course/widgets/Show.js', Show);
    lab.files.set(
      '/course/lesson.json',
      JSON.stringify(lessonOf({ Near: { Mercury: shown } }, { variable_definitions })),
    );
    let release = () => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    await page.route('**/one.svg', async (route) => {
      await held;
      await route.continue();
    });
    await view.start({ base: 'course' });
    const [pick, show] = [0, 1].map((index) =>
      page.locator('.lectern-widget-frame').nth(index).contentFrame(),
    );
    await pick?.getByText('two').click();
    await show?.getByText('./media/two.svg of 1').waitFor();
    const late = page.waitForResponse('**/one.svg');
    release();
    await (await late).finished();
    await pick?.getByText('one').click();
    await show?.getByText('./media/one.svg of 2').waitFor();
    await pick?.getByText('two').click();
    await show?.getByText('./media/two.svg of 2').waitFor();
    expect(view.requests.filter((path) => path.endsWith('.svg')).toSorted()).toEqual([
      '/course/media/one.svg',
      '/course/media/two.svg',
    ]);
    await page.unroute('**/one.svg');
  });

  it('without a manifest plays everything that the lesson alone describes', async () => {
    putArchive();
    await view.start({ base: `${lab.origin}/course/` });
    await page.getByText('This part of the lesson isn’t available.').waitFor();
    await page.waitForFunction('document.querySelector("img[alt=One]").naturalWidth > 0');
    expect((await view.calls('onReady'))[0]).toMatchObject({ versionId: null });
  });

  it('loads no widget from outside its folder', async () => {
    for (const localPath of ['../elsewhere.js', '/elsewhere.js', 'data:text/javascript,1', 'http://[']) {
      putArchive({ files: { widgets: [{ widgetType: 'Shout', localPath }] } });
      await view.start({ base: '/course/' });
      await page.getByText('This part of the lesson isn’t available.').waitFor();
    }
    expect(view.requests).not.toContain('/elsewhere.js');
  });

  it('that does not exist causes an error', async () => {
    await view.start({ base: '/nowhere/' });
    expect((await view.calls('onError'))[0]).toMatchObject({
      code: 'lesson_not_loaded',
      message: `${lab.origin}/nowhere/lesson.json returned status 404`,
    });
    expect(await page.getByText('This lesson isn’t available.').isVisible()).toBe(true);
  });

  it('that is removed while loading reports nothing more', async () => {
    lab.files.set('/slow/lesson.json', null);
    await page.evaluate('start({ base: "/slow/" })');
    expect(await page.getByText('Loading…').isVisible()).toBe(true);
    await page.evaluate('handle.destroy()');
    expect(await page.evaluate('new Promise((resolve) => setTimeout(() => resolve(events), 0))')).toEqual([]);
    expect(await page.locator('#lesson').innerHTML()).toBe('');
  });
});
