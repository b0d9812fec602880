import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { bytesOf } from '../../../shared/storage/digest.ts';
import { releaseWidget } from '../../../shared/widgets/releases.ts';
import { buildPackage, buildVersion } from '../../support/factories.ts';
import { packageRoot } from '../../../shared/platform/paths.ts';
import { useArchiveLab, ways } from './archive-lab.ts';
import type { OpenLesson, Unpacked, Way } from './archive-lab.ts';

const lab = useArchiveLab();

/** Strings that would end a script element, or hide its end, if they were not escaped. */
const hostile = '</script><script>window.broken = 1</script><!--<script>\u2028\u{1F30A}';

const poll = `export default {
  type: 'Poll',
  mount(element, { props, state, context }) {
    const button = document.createElement('button');
    button.className = 'poll';
    button.textContent = state ?? ${JSON.stringify(hostile)};
    button.addEventListener('click', () => context.answer('yes', { score: 2, maxScore: 3 }));
    element.append(button);
    return { destroy: () => button.remove() };
  },
};
`;
// Longer than a read buffer, with multi-byte characters at the chunk boundaries.
const longPoll = `${poll}// ${'é€🌊'.repeat(40_000)}\n`;

const recordings = {
  video: '319d284d-1f31-40a5-b1b7-f71e82a8f82d',
  captions: '1712b347-2fb7-4d3c-af96-1c8a5b529337',
};
const demoFile = (name: string) => readFile(join(packageRoot, 'demo', 'lesson', 'media', name));

let archive: Unpacked;
beforeAll(async () => {
  await releaseWidget(lab.harness.db, lab.harness.store, {
    organizationId: lab.organization._id,
    type: 'Poll',
    js: bytesOf(Buffer.from(longPoll)),
    css: bytesOf(Buffer.from('.poll { color: rgb(1, 2, 3) }\n')),
  });
  const { path } = await buildPackage({
    slug: 'all-kinds',
    lesson: { title: `Tide & "time" ${hostile}`, language: 'ar' },
    media: [
      {
        id: recordings.video,
        bytes: await demoFile(`${recordings.video}.webm`),
        mimeType: 'video/webm',
        extension: 'webm',
      },
      {
        id: recordings.captions,
        bytes: await demoFile(`${recordings.captions}.vtt`),
        mimeType: 'text/vtt',
        extension: 'vtt',
        attribution: {
          text: `<b>A. Painter</b> ${hostile}`,
          url: 'javascript:alert(1)',
          portfolioUrl: 'https://example.org/a?b&c',
        },
      },
    ],
    blocks: () => [
      { type: 'Poll', props: { id: 'Poll-1', points: 3 } },
      { type: 'Text', props: { id: 'Text-1', html: `<p>${hostile.replaceAll('<', '&lt;')}</p>` } },
      {
        type: 'Video',
        props: { id: 'Video-1', src: `media:${recordings.video}`, captions: `media:${recordings.captions}` },
      },
    ],
  });
  archive = await lab.unpack(await buildVersion(lab.harness, lab.organization, path));
});

async function open(way: Way): Promise<OpenLesson> {
  const lesson = await lab.open(archive.addresses[way]);
  await lesson.page.locator('.poll').waitFor();
  return lesson;
}

test.each(ways)(
  'a widget of the organization runs with its styles and reports answers, from %s',
  async (way) => {
    const { page, problems, told } = await open(way);
    const button = page.locator('.poll');
    expect(await button.textContent()).toBe(hostile);
    expect(await page.evaluate(`getComputedStyle(document.querySelector('.poll')).color`)).toBe(
      'rgb(1, 2, 3)',
    );
    await button.click();
    const answers = (await told()).filter(({ name }) => name === 'onAnswer');
    expect(answers.map(({ event }) => event)).toMatchObject([
      {
        score: 2,
        maxScore: 3,
        items: [{ widgetId: 'Poll-1', widgetType: 'Poll', answer: 'yes', score: 2, maxScore: 3 }],
      },
    ]);
    expect(problems).toEqual([]);
  },
);

test.each(ways)('captions are readable, from %s', async (way) => {
  const { page, problems } = await open(way);
  await page.waitForFunction(`document.querySelector('track').track.cues?.length > 0`);
  const first = await page.evaluate<string>(`document.querySelector('track').track.cues[0].text`);
  expect(String(archive.files.get(`media/${recordings.captions}.vtt`))).toContain(first);
  expect(problems).toEqual([]);
});

test.each(ways)('no text of a lesson, widget or credit breaks out of its element, from %s', async (way) => {
  const { page } = await open(way);
  expect(await page.evaluate('window.broken')).toBeUndefined();
  expect(await page.title()).toBe(`Tide & "time" ${hostile}`);
  const credit = page.locator('#lectern-credits li');
  expect(await credit.textContent()).toBe(`<b>A. Painter</b> ${hostile} (https://example.org/a?b&c)`);
  expect(await credit.locator('a').count()).toBe(1);
  expect(await credit.locator('a').getAttribute('href')).toBe('https://example.org/a?b&c');
});

test('in a sandboxed frame without an origin, the lesson plays with its widgets', async () => {
  const frame = `<!doctype html><iframe sandbox="allow-scripts" src="./${archive.folder}/index.html"></iframe>`;
  const folder = join(archive.path, '..');
  await writeFile(join(folder, 'frame.html'), frame);
  const { page } = await lab.open(`${await lab.serve(folder)}/frame.html`);
  const widget = page.frameLocator('iframe').locator('.poll');
  await widget.click();
  expect(await page.frames()[1]?.evaluate('window.told.map(({ name }) => name)')).toContain('onAnswer');
});

test("the page has the lesson's language and text direction", async () => {
  const { page } = await open(ways[0]);
  const [lang, dir, credits] = await page.evaluate<string[]>(
    `[document.documentElement.lang, document.documentElement.dir, document.querySelector('#lectern-credits summary').textContent]`,
  );
  expect([lang, dir, credits]).toEqual(['ar', 'rtl', 'الحقوق والمصادر']);
});

test('the page loads only files of the archive, and its CSP enforces that', () => {
  const index = String(archive.files.get('index.html'));
  const addresses = [...index.matchAll(/<(?:script|link)[^>]* (?:src|href)="([^"]*)"/g)].map(
    ([, address]) => address,
  );
  expect(addresses).toEqual([
    './player/player.css',
    './player/callbacks.js',
    './player/player.classic.js',
    './player/archive-page.js',
  ]);
  for (const address of addresses) expect(archive.files.has(address?.slice(2) ?? '')).toBe(true);
  expect(index).toContain(`content="default-src 'none'; script-src 'self' file: blob:;`);
});
