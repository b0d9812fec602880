import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { useOrigin } from '../support/use.ts';
import { useWidgetPage } from './player-lab.ts';

const { view, page } = useWidgetPage();

const foreign = useOrigin();
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

const tracks = () =>
  page.evaluate(
    `[...document.querySelector('video').textTracks].map(({ label, language, mode }) => ({ label, language, mode }))`,
  );

describe('Video', () => {
  it('offers captions in each language by its own name, and shows those in the language of the lesson', async () => {
    await view.show([{ type: 'Video', props: { src: video, captions: twoLanguages } }], {
      language: 'de-AT',
    });
    await page.waitForFunction(`document.querySelector('video').textTracks[1].cues?.length`);
    expect(await tracks()).toEqual([
      { label: 'English', language: 'en', mode: 'disabled' },
      { label: 'Deutsch (Schweiz)', language: 'de', mode: 'showing' },
    ]);
  });

  it('shows the first captions when none are in the language of the lesson', async () => {
    await view.show([{ type: 'Video', props: { src: video, captions: twoLanguages } }], {
      language: 'fr',
    });
    await page.waitForFunction(`document.querySelector('video').textTracks[0].cues`);
    expect(await tracks()).toMatchObject([{ mode: 'showing' }, { mode: 'disabled' }]);
  });

  it('plays without captions that fail to load, and shows a notice', async () => {
    await view.show([{ type: 'Video', props: { src: video, captions: 'media:none' } }]);
    await page.getByText('The captions aren’t available.').waitFor();
    expect(await tracks()).toEqual([]);
    await page.waitForFunction(`document.querySelector('video').readyState > 0`);
  });

  it('plays where another origin allows playing but not reading its captions', async () => {
    foreign.serve('/video', await readFile(demoFile.video), { contentType: 'video/webm' });
    foreign.serve('/captions', await readFile(demoFile.captions), { contentType: 'text/vtt' });
    const props = { src: foreign.url('/video'), captions: foreign.url('/captions') };
    await view.show([{ type: 'Video', props }]);
    await page.waitForFunction(`document.querySelector('video').readyState > 0`);
    await page.getByText('The captions aren’t available.').waitFor();
  });
});

describe('Audio', () => {
  it('shows the current captions as plain text in their language, and lets the reader choose', async () => {
    await view.show([{ type: 'Audio', props: { src: audio, captions: twoLanguages } }]);
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
    await view.show([{ type: 'Audio', props: { src: audio, captions: 'media:none' } }]);
    await page.getByText('The captions aren’t available.').waitFor();
    expect(await page.getByRole('combobox').isVisible()).toBe(false);
  });

  it('that cannot be played shows its transcript and no captions', async () => {
    const props = { src: 'media:none', captions: vtt('x'), transcript: 'All of it' };
    await view.show([{ type: 'Audio', props }]);
    await page.getByText('This audio won’t play.').waitFor();
    expect(await page.getByRole('combobox').count()).toBe(0);
    await page.getByText('Transcript').click();
    expect(await page.getByText('All of it').isVisible()).toBe(true);
  });
});
