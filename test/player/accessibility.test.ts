import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { faultsIn } from '../support/axe.ts';
import { oneOfEach } from './archive-page/play-through.ts';
import { usePlayerLab } from './player-lab.ts';
import type { SampleBlock, WidgetPage } from './player-lab.ts';
import { demoLesson, openQuestion, question, several, threeSteps } from './samples.ts';

const lab = usePlayerLab();

const captions = ['en', 'ar'].map((language) => ({ src: 'data:text/vtt,WEBVTT', language }));
const transcript = '<p>It turns. <a href="https://example.org">More</a></p>';
const missing = { src: 'media:none', alt: 'A quay', transcript, captions: 'media:none' };
const picture = {
  src: 'media:1619c428-4d84-4e65-8c2b-8847b8aea3b0',
  alt: 'A quay',
  caption: 'High <b>tide</b>',
};
const video = { src: 'media:319d284d-1f31-40a5-b1b7-f71e82a8f82d', captions, transcript };
const audio = { src: 'media:48ed9460-9e64-4df8-854a-71329ce41c4e', captions, transcript };
const html = `<h3>Tides</h3><p>Text, <a href="https://example.org">a link</a>, <code>code</code>, <dfn>terms</dfn>.</p>
  <table><caption>Hours</caption><thead><tr><th scope="col">Hour</th><th scope="col">Height</th></tr></thead>
  <tbody><tr><th scope="row">1</th><td>0.3 m</td></tr></tbody></table><blockquote>Quoted</blockquote>
  <table><tr>${'<td>Many wide cells</td>'.repeat(20)}</tr></table><ul><li>One</li></ul><pre>Plain</pre>
  <math display="block"><mi>x</mi></math><math display="block"><mn>${'1'.repeat(200)}</mn></math>
  <figure><img src="media:4b4a4991-7a11-4e6f-b24f-df4828657098" alt="Phases"><figcaption>The Moon</figcaption></figure>`;
const told = {
  ...question.props,
  choices: question.props.choices.map((choice) => ({ ...choice, feedback: 'Because <b>it is</b>.' })),
  feedback: { right: 'Well seen.', partly: 'Nearly.', wrong: 'Think of orbits.' },
  attempts: 2,
};

/** A block, and the learner's actions before axe checks the page. */
interface State {
  type: string;
  props: object;
  answer?: unknown;
  tries?: number;
  /** Selectors to click. */
  press?: string;
  /** Selectors that must exist. */
  awaited?: string;
}

const states: State[] = [
  { type: 'Heading', props: { text: 'How tides work' } },
  { type: 'Text', props: { html } },
  { type: 'Image', props: picture, awaited: '.lectern-zoom-open' },
  { type: 'Image', props: missing, awaited: '.lectern-missing' },
  { type: 'Video', props: video, press: 'summary' },
  { type: 'Video', props: { ...video, captions: 'media:none' }, awaited: '.lectern-media-note' },
  { type: 'Video', props: missing, awaited: '.lectern-missing' },
  { type: 'Audio', props: audio, press: 'summary' },
  { type: 'Audio', props: { ...audio, captions: 'media:none' }, awaited: '.lectern-media-note' },
  { type: 'Audio', props: missing, awaited: '.lectern-missing' },
  { type: 'Callout', props: { title: 'Note', body: [{ type: 'Text', props: { html } }, openQuestion] } },
  { type: 'Columns', props: { columns: [[{ type: 'Text', props: { html } }], [question]] } },
  { type: 'MultipleChoice', props: told },
  { type: 'MultipleChoice', props: told, press: 'input' },
  { type: 'MultipleChoice', props: told, press: 'button' },
  { type: 'MultipleChoice', props: told, answer: ['mars'] },
  { type: 'MultipleChoice', props: told, answer: ['sun'], tries: 1 },
  { type: 'MultipleChoice', props: told, answer: ['sun'], tries: 2 },
  { type: 'MultipleChoice', props: { ...told, correct: [] }, answer: ['sun'] },
  {
    type: 'MultipleChoice',
    props: { ...told, correct: several.props.correct, partialCredit: true },
    answer: ['mars'],
  },
  { type: 'OpenResponse', props: openQuestion.props },
  { type: 'OpenResponse', props: openQuestion.props, press: 'button' },
  { type: 'OpenResponse', props: openQuestion.props, answer: 'It spins.' },
];

async function showStates(shown: WidgetPage, language: string): Promise<void> {
  const blocks = states.map(({ type, props }, index): SampleBlock => ({
    type,
    props: { ...props, id: `b${index}` },
  }));
  const byId = <Value>(value: (state: State) => Value) =>
    Object.fromEntries(states.map((state, index) => [`b${index}`, value(state)]));
  const inBlocks = (selectors: Record<string, string | undefined>) =>
    JSON.stringify(
      Object.entries(selectors).flatMap(([id, selector]) =>
        selector ? [`[data-block=${id}] ${selector}`] : [],
      ),
    );
  await shown.show(blocks, {
    language,
    states: byId(({ answer }) => answer),
    tries: byId(({ tries = 0 }) => tries),
  });
  await shown.page.evaluate(`for (const image of document.images) image.loading = 'eager'`);
  await shown.page.evaluate(
    `${inBlocks(byId(({ press }) => press))}.forEach((selector) => document.querySelector(selector).click())`,
  );
  await shown.page.waitForFunction(
    `${inBlocks(byId(({ awaited }) => awaited))}.every((selector) => document.querySelector(selector)?.checkVisibility())`,
  );
}

/** Returns axe's findings on a page whose heading is not the player's. */
async function widgetFaults({ page }: { page: Page }): Promise<string[]> {
  return (await faultsIn(page)).filter((fault) => !fault.startsWith('page-has-heading-one'));
}

const schemes = [
  { colorScheme: 'dark', language: 'en', width: 320 },
  { colorScheme: 'light', language: 'ar', width: 1200 },
] as const;

describe.each(schemes)('axe-core finds no violation, $colorScheme, in $language,', (scheme) => {
  const { colorScheme, language, width } = scheme;
  const options = { colorScheme, reducedMotion: 'reduce', viewport: { width, height: 700 } } as const;

  it('in any widget, in any state, or in a picture at full size', { timeout: 90_000 }, async () => {
    const view = await lab.openWidgets(options);
    await showStates(view, language);
    expect(await widgetFaults(view)).toEqual([]);
    expect(await view.failures()).toEqual([]);
    await view.page.setViewportSize({ width: 320, height: 480 });
    await view.show([{ type: 'Image', props: picture }], { language });
    await view.page.locator('.lectern-zoom-open').click();
    expect(await widgetFaults(view)).toEqual([]);
    await view.close();
  });

  it('in the drawer, in the dialog before a restart, and where a block or a lesson cannot be shown', async () => {
    const view = await lab.openLesson({ ...options, viewport: { width: 320, height: 700 } });
    const { page } = view;
    await view.start({ lesson: threeSteps(), language, startAt: 'neptune' });
    await page.locator('.lectern-contents-button').click();
    expect(await faultsIn(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await page.evaluate('handle.next()');
    await page.locator('.lectern-end .lectern-actions .lectern-button').nth(1).click();
    expect(await faultsIn(page)).toEqual([]);

    const lesson = threeSteps();
    for (const block of lesson.sections[0]?.steps[0]?.content.content ?? []) block.type = 'Gone';
    await view.start({ lesson, language });
    await page.locator('.lectern-notice').waitFor();
    expect(await faultsIn(page)).toEqual([]);
    await view.start({ lesson: {}, language });
    expect(await widgetFaults(view)).toEqual([]);
    expect(await page.getByRole('alert').isVisible()).toBe(true);
    await view.close();
  });
});

it('axe-core finds no violation in steps with each core widget, or at the end', async () => {
  const view = await lab.openLesson({ reducedMotion: 'reduce' });
  await view.start({ lesson: oneOfEach(await demoLesson()) });
  do {
    expect(await faultsIn(view.page)).toEqual([]);
  } while (await view.page.evaluate('handle.next()'));
  await view.close();
});

it('scrollable areas are reachable by keyboard, and nothing else is an additional tab stop', async () => {
  const view = await lab.openWidgets();
  await view.show([{ type: 'Text', props: { html } }]);
  const stops = () =>
    view.page.evaluate(
      `[...document.querySelectorAll('.lectern-scroll, .lectern-mathml')].map((scroller) => scroller.tabIndex)`,
    );
  // The browser reports sizes after it has painted.
  await expect.poll(stops).toEqual([-1, 0, -1, 0]);
  await view.close();
});
