import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { describe, expect, it } from 'vitest';
import { startOrigin } from '../support/origin.ts';
import { useWidgetLab } from './use-widget-lab.ts';

const file = useWidgetLab();

const video = 'media:319d284d-1f31-40a5-b1b7-f71e82a8f82d';
const audio = 'media:48ed9460-9e64-4df8-854a-71329ce41c4e';
const demoFile = {
  video: 'demo/lesson/media/319d284d-1f31-40a5-b1b7-f71e82a8f82d.webm',
  captions: 'demo/lesson/media/1712b347-2fb7-4d3c-af96-1c8a5b529337.vtt',
};

function vtt(text: string): string {
  return `data:text/vtt,${encodeURIComponent(`WEBVTT\n\n00:00.000 --> 00:30.000\n${text}\n`)}`;
}

const twoLanguages = [
  { src: vtt('The tide rises.'), language: 'en' },
  { src: vtt('Die Flut <i>kommt</i>.'), language: 'de', label: 'Deutsch (Schweiz)' },
];

interface Shown {
  label: string;
  language: string;
  mode: string;
}

async function tracks(): Promise<Shown[]> {
  return file.shared.page.evaluate(
    `[...document.querySelector('video').textTracks].map(({ label, language, mode }) => ({ label, language, mode }))`,
  );
}

async function cueOf(index: number): Promise<unknown> {
  await file.shared.page.evaluate(`document.querySelector('video').textTracks[${index}].mode = 'showing'`);
  await file.shared.page.waitForFunction(`document.querySelector('video').textTracks[${index}].cues?.length`);
  return file.shared.page.evaluate(`document.querySelector('video').textTracks[${index}].cues[0].text`);
}

describe('Video', () => {
  it('offers captions in each language by its own name, and shows those in the language of the lesson', async () => {
    await file.shared.show([{ type: 'Video', props: { src: video, captions: twoLanguages } }], {
      language: 'de-AT',
    });
    await file.shared.page.waitForFunction(`document.querySelector('video').textTracks[1].cues`);
    expect(await tracks()).toEqual([
      { label: 'English', language: 'en', mode: 'disabled' },
      { label: 'Deutsch (Schweiz)', language: 'de', mode: 'showing' },
    ]);
    expect(await cueOf(0)).toBe('The tide rises.');
  });

  it('shows the first captions when none are in the language of the lesson', async () => {
    await file.shared.show([{ type: 'Video', props: { src: video, captions: twoLanguages } }], {
      language: 'fr',
    });
    await file.shared.page.waitForFunction(`document.querySelector('video').textTracks[0].cues`);
    expect((await tracks()).map(({ mode }) => mode)).toEqual(['showing', 'disabled']);
  });

  it('plays without captions that fail to load, and shows a notice', async () => {
    await file.shared.show([{ type: 'Video', props: { src: video, captions: 'media:none' } }]);
    await file.shared.page.getByText('The captions aren’t available.').waitFor();
    expect(await tracks()).toEqual([]);
    await file.shared.page.waitForFunction(`document.querySelector('video').readyState > 0`);
  });

  it('plays where another origin allows playing but not reading its captions', async () => {
    const { page } = file.shared;
    const foreign = await startOrigin();
    foreign.serve('/video', await readFile(demoFile.video), { contentType: 'video/webm' });
    foreign.serve('/captions', await readFile(demoFile.captions), { contentType: 'text/vtt' });
    const props = { src: foreign.url('/video'), captions: foreign.url('/captions') };
    await file.shared.show([{ type: 'Video', props }]);
    await page.waitForFunction(`document.querySelector('video').readyState > 0`);
    await page.getByText('The captions aren’t available.').waitFor();
    await foreign.close();
  });
});

describe('Audio', () => {
  it('shows the current captions as plain text in their language, and lets the reader choose', async () => {
    const { page } = file.shared;
    await file.shared.show([{ type: 'Audio', props: { src: audio, captions: twoLanguages } }]);
    await page.waitForFunction(`document.querySelector('audio').readyState > 0`);
    await page.evaluate(`document.querySelector('audio').currentTime = 0.5`);
    const line = page.locator('.lectern-caption-line');
    await page.getByText('The tide rises.').waitFor();
    const choice = page.getByRole('combobox', { name: 'Captions' });
    expect(await choice.locator('option').allTextContents()).toEqual(['Off', 'English', 'Deutsch (Schweiz)']);
    await choice.selectOption('Deutsch (Schweiz)');
    await page.getByText('Die Flut kommt.').waitFor();
    expect(await line.getAttribute('lang')).toBe('de');
    expect(await line.locator('*').count()).toBe(0);
    await choice.selectOption('Off');
    expect(await line.isVisible()).toBe(false);
  });

  it('does not offer captions that fail to load', async () => {
    const { page } = file.shared;
    await file.shared.show([{ type: 'Audio', props: { src: audio, captions: 'media:none' } }]);
    await page.getByText('The captions aren’t available.').waitFor();
    expect(await page.getByRole('combobox').isVisible()).toBe(false);
  });

  it('that cannot be played shows its transcript and no captions', async () => {
    const { page } = file.shared;
    const props = { src: 'media:none', captions: vtt('x'), transcript: 'All of it' };
    await file.shared.show([{ type: 'Audio', props }]);
    await page.getByText('This audio won’t play.').waitFor();
    expect(await page.getByRole('combobox').count()).toBe(0);
    await page.getByText('Transcript').click();
    expect(await page.getByText('All of it').isVisible()).toBe(true);
  });
});

it.each(['data:', 'blob:'])(
  'on a page opened from a file, captions for which resolveMedia returns a %s URL are shown',
  async (scheme) => {
    const folder = await mkdtemp(join(tmpdir(), 'lectern-file-page-'));
    try {
      const { outputFiles } = await build({
        stdin: {
          contents: `import Video from './player/widgets/Video/Video.ts'; globalThis.Video = Video;`,
          resolveDir: process.cwd(),
        },
        bundle: true,
        format: 'iife',
        write: false,
      });
      await copyFile(demoFile.video, join(folder, 'video.webm'));
      const captions = await readFile(demoFile.captions, 'utf8');
      const page = `<!doctype html><meta charset="utf-8"><main></main><script>${outputFiles[0]?.text ?? ''}</script>
        <script>
          const captions = ${JSON.stringify(captions)};
          const addresses = {
            'data:': 'data:text/vtt;charset=utf-8,' + encodeURIComponent(captions),
            'blob:': URL.createObjectURL(new Blob([captions], { type: 'text/vtt' })),
          };
          Video.mount(document.querySelector('main'), {
            props: { src: 'video.webm', captions: 'captions.vtt' },
            context: { language: 'en', resolveMedia: (src) => src.endsWith('.vtt') ? addresses[${JSON.stringify(scheme)}] : src },
          });
        </script>`;
      await writeFile(join(folder, 'index.html'), page);
      const opened = await file.lab.open();
      await opened.page.goto(pathToFileURL(join(folder, 'index.html')).href);
      await opened.page.waitForFunction(`document.querySelector('track')?.track.cues?.length > 3`);
      await opened.page.waitForFunction(`document.querySelector('video').readyState > 0`);
      expect(await opened.page.getByText('The captions aren’t available.').isVisible()).toBe(false);
      await opened.page.context().close();
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
);
