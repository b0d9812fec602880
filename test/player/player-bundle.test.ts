import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildPlayer } from '../../player/build.ts';
import { launchBrowser } from '../support/browser.ts';
import { threeSteps } from './lesson-samples.ts';

const tsc = join(import.meta.dirname, '../../node_modules/typescript/bin/tsc');

/** The code that a learner's browser may have to load to play a lesson of core widgets. */
const maxKilobytes = 60;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lectern-bundle-'));
  await buildPlayer(folder);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const size = async (name: string) => gzipSync(await readFile(join(folder, name)), { level: 9 }).length / 1000;

describe('the bundles of the player', () => {
  it.each(['player.js', 'player.classic.js'])(
    `%s and the stylesheet are at most ${maxKilobytes} kB, gzipped, core widgets included`,
    async (script) => {
      expect((await size(script)) + (await size('player.css'))).toBeLessThanOrEqual(maxKilobytes);
    },
  );

  it('are self-contained, contain the sanitizer once, and reveal nothing about the machine', async () => {
    for (const name of ['player.js', 'player.classic.js', 'player.css']) {
      const source = (await readFile(join(folder, name))).toString();
      expect(source, name).not.toMatch(/sourceMappingURL|\bfrom\s*["']|@import|url\(/);
      expect(source.includes(process.cwd()) || source.includes(folder), name).toBe(false);
      if (name !== 'player.css') expect(source.match(/@license DOMPurify/g), name).toHaveLength(1);
    }
  });

  it('are deterministic', async () => {
    const again = await mkdtemp(join(tmpdir(), 'lectern-bundle-'));
    try {
      await buildPlayer(again);
      for (const name of await readdir(folder)) {
        const bytes = await readFile(join(folder, name));
        expect(bytes.equals(await readFile(join(again, name))), name).toBe(true);
      }
    } finally {
      await rm(again, { recursive: true, force: true });
    }
  });

  it('the classic script plays a lesson on a page that was opened from a file', async () => {
    const page = join(folder, 'page.html');
    await writeFile(
      page,
      `<!doctype html><meta charset="utf-8"><link rel="stylesheet" href="player.css">
       <div id="lesson"></div><script src="player.classic.js"></script>
       <script>Lectern.mountLesson({ element: document.getElementById('lesson'), lesson: ${JSON.stringify(threeSteps())} })</script>`,
    );
    const browser = await launchBrowser();
    try {
      const opened = await browser.newPage();
      await opened.goto(pathToFileURL(page).href);
      await opened.getByRole('button', { name: 'Next' }).click();
      expect(await opened.locator('h1').textContent()).toBe('Venus');
    } finally {
      await browser.close();
    }
  });

  it('the types accept correct integrations and reject everything else', async () => {
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
    await writeFile(join(folder, 'declared.ts'), await readFile(join(folder, 'player.d.ts')));
    await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
    const files = ['use.ts', 'declared.ts'].map((file) => join(folder, file));
    await promisify(execFile)(process.execPath, [
      ...[tsc, '--ignoreConfig', '--noEmit', '--strict', '--skipLibCheck', '--lib', 'es2022,dom'],
      ...['--module', 'nodenext', ...files],
    ]);
  }, 120_000);
});
