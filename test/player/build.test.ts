import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { buildPlayer, buildWidgets } from '../../player/build.ts';
import { coreWidgetTypes } from '../../shared/lessons/core-widgets.ts';
import { useBrowser, useStarted } from '../support/use.ts';
import { lessonOf } from './samples.ts';

const root = join(import.meta.dirname, '../..');
const media = join(root, 'demo/lesson/media');

/** The gzipped size of the code that a learner's browser may have to load to play a lesson of core widgets. */
const maxKilobytes = 73;

const browser = useBrowser();

/** Two builds, the second over the files of an earlier one. */
const built = useStarted(
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'lectern-build-'));
    const builds = [];
    for (const name of ['first', 'second']) {
      const [player, widgets] = [join(folder, name, 'player'), join(folder, name, 'widgets')];
      for (const output of [player, widgets]) {
        await mkdir(output, { recursive: true });
        await writeFile(join(output, 'Gone.js'), '');
      }
      builds.push({ player, widgets, names: [await buildPlayer(player), await buildWidgets(widgets)] });
    }
    const [first, second] = builds;
    if (!first || !second) throw new Error('nothing was built');
    return { folder, first, second };
  },
  ({ folder }) => rm(folder, { recursive: true, force: true }),
);

const size = async (name: string) =>
  gzipSync(await readFile(join(built.first.player, name)), { level: 9 }).length / 1000;

test('a build consists of the player, and a module and a stylesheet for each core type', async () => {
  const { player, widgets, names } = built.first;
  const [playerNames = [], widgetNames] = names;
  expect(widgetNames).toEqual(coreWidgetTypes.flatMap((type) => [`${type}.css`, `${type}.js`]).sort());
  expect(playerNames).toEqual(expect.arrayContaining(['player.js', 'player.css', 'player.d.ts']));
  expect([(await readdir(player)).sort(), (await readdir(widgets)).sort()]).toEqual(names);
});

test('builds are deterministic, self-contained, contain the sanitizer once, and reveal nothing about the machine', async () => {
  const { first, second } = built;
  expect(second.names).toEqual(first.names);
  for (const [folder, other] of [
    [first.player, second.player],
    [first.widgets, second.widgets],
  ] as const) {
    for (const name of await readdir(folder)) {
      const bytes = await readFile(join(folder, name));
      expect(bytes.equals(await readFile(join(other, name))), name).toBe(true);
      const source = bytes.toString();
      expect(source.includes(root) || source.includes(built.folder), name).toBe(false);
      if (folder === first.player && !/^player\.(js|classic\.js|css)$/.test(name)) continue;
      expect(source, name).not.toMatch(
        /sourceMappingURL|\bfrom\s*["']|\bimport\s*["']|@import|url\((?!"data:|%23|\.\/Temml\.woff2)/,
      );
      if (folder === first.widgets) expect(source, name).not.toContain('import(');
      if (name.startsWith('player.') && name.endsWith('.js'))
        expect(source.match(/@license DOMPurify/g), name).toHaveLength(1);
    }
  }
});

test.each(['player.js', 'player.classic.js'])(
  `%s and the stylesheet are at most ${maxKilobytes} kB, gzipped, core widgets included`,
  async (script) => {
    expect((await size(script)) + (await size('player.css'))).toBeLessThanOrEqual(maxKilobytes);
  },
);

test('the classic script plays a lesson on a page that was opened from a file, with captions at a blob: URL', async () => {
  const folder = built.first.player;
  await copyFile(join(media, '319d284d-1f31-40a5-b1b7-f71e82a8f82d.webm'), join(folder, 'video.webm'));
  const captions = await readFile(join(media, '1712b347-2fb7-4d3c-af96-1c8a5b529337.vtt'), 'utf8');
  const video = { type: 'Video', props: { id: 'v1', src: 'video.webm', captions: 'captions.vtt' } };
  const file = join(folder, 'page.html');
  await writeFile(
    file,
    `<!doctype html><meta charset="utf-8"><link rel="stylesheet" href="player.css">
       <div id="lesson"></div><script src="player.classic.js"></script>
       <script>
         const captions = ${JSON.stringify(captions)};
         const url = URL.createObjectURL(new Blob([captions], { type: 'text/vtt' }));
         Lectern.mountLesson({
           element: document.getElementById('lesson'),
           lesson: ${JSON.stringify(lessonOf({ Near: { Mercury: [], Venus: [video] } }))},
           resolveMedia: (src) => src.endsWith('.vtt') ? url : src,
         });
       </script>`,
  );
  const page = await browser.newPage();
  await page.goto(pathToFileURL(file).href);
  await page.getByRole('button', { name: 'Next' }).click();
  expect(await page.locator('h1').textContent()).toBe('Venus');
  await page.waitForFunction(`document.querySelector('track')?.track.cues?.length > 3`);
  await page.waitForFunction(`document.querySelector('video').readyState > 0`);
  expect(await page.getByText('The captions aren’t available.').isVisible()).toBe(false);
  await page.close();
});

test('the types accept correct integrations and reject everything else', { timeout: 120_000 }, async () => {
  const folder = built.second.player;
  const use = `import { mountLesson, type LessonEvent, type Widget } from './player.js';
    const widget: Widget = { type: 'W', mount: () => ({ destroy() {} }) };
    const seen: LessonEvent[] = [];
    const handle = mountLesson({
      element: document.body,
      base: new URL('https://lessons.example/one/'),
      loadWidget: async (type) => (type === 'W' ? widget : null),
      onAnswer: ({ item, score }) => console.log(item.widgetId, score?.toFixed(1)),
      onStepChange: (event) => seen.push(event),
      onError: ({ code }) => code === 'widget_late',
    });
    const moved: boolean = handle.goTo('step');
    handle.destroy();
    // @ts-expect-error -- there is no such callback
    mountLesson({ element: document.body, onAnwser: () => undefined });
    export { moved, seen };\n`;
  await writeFile(join(folder, 'use.ts'), use);
  // The compiler does not check declarations by themselves, only sources.
  await copyFile(join(folder, 'player.d.ts'), join(folder, 'declared.ts'));
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
  await promisify(execFile)(process.execPath, [
    join(root, 'node_modules/typescript/bin/tsc'),
    ...['--ignoreConfig', '--noEmit', '--strict', '--skipLibCheck', '--lib', 'es2022,dom'],
    ...['--module', 'nodenext', join(folder, 'use.ts'), join(folder, 'declared.ts')],
  ]);
});
