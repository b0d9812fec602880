import type { Page } from 'playwright-core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { useStarted } from '../support/use.ts';
import { usePlayerLab } from './player-lab.ts';
import type { SampleBlock } from './player-lab.ts';
import { demoLesson, lessonOf, openQuestion, question, text, threeSteps } from './samples.ts';

const lab = usePlayerLab();

type PageOptions = Parameters<typeof lab.openLesson>[0];

/** Opens a separate page with these browser settings. */
async function openLesson(width: number, options: PageOptions = {}) {
  const view = await lab.openLesson({ viewport: { width, height: 700 }, ...options });
  onTestFinished(() => view.close());
  return view;
}

/** Settings that most tests use. */
const lessons = useStarted(
  () => lab.openLesson(),
  (view) => view.close(),
);
const widgets = useStarted(
  () => lab.openWidgets(),
  (view) => view.close(),
);
const lessonsAt = async (width: number) => {
  await lessons.page.setViewportSize({ width, height: 700 });
  return lessons;
};
const widgetsAt320 = async () => {
  await widgets.page.setViewportSize({ width: 320, height: 640 });
  return widgets;
};

const pageWidth = 'document.documentElement.scrollWidth';

/** Finds texts of widgets that overflow the page to either side, out of reach of scrolling. JavaScript for a page. */
const textsOutside = `[...document.querySelectorAll('.lectern-block *')]
  .filter((node) => !node.closest('.lectern-scroll, pre, math') && [...node.childNodes].some((child) => child.nodeType === 3))
  .filter((node) => {
    const range = document.createRange();
    range.selectNodeContents(node);
    const { left, right } = range.getBoundingClientRect();
    return left < 0 || right > innerWidth;
  })
  .map((node) => node.outerHTML)`;

const long = 'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft';

describe('the layout of widgets', () => {
  it.each(['en', 'ar'])(
    'in %s, nothing is wider than a 320 px screen, whatever the text',
    async (language) => {
      const view = await widgetsAt320();
      const wide = `<table><tr>${'<td>A cell of some words</td>'.repeat(9)}</tr></table><pre>${'x '.repeat(200)}</pre>`;
      const feedback = { choices: [{ id: 'mars', html: long, feedback: long }], feedback: { right: long } };
      const samples: SampleBlock[] = [
        { type: 'Heading', props: { text: long, level: 1 } },
        text('t', `<p>${long}</p>${wide}<math display="block"><mn>${'1'.repeat(90)}</mn></math>`),
        { type: 'Columns', props: { columns: [[text('t', long)], [question]] } },
        { type: 'MultipleChoice', props: { ...question.props, ...feedback, explanation: long } },
        { type: 'OpenResponse', props: { ...openQuestion.props, prompt: long, sampleAnswer: long } },
        { type: 'Accordion', props: { panels: [{ title: long, body: [], open: true }] } },
        { type: 'Numeric', props: { id: 'n1', prompt: long, correct: 1, points: 1, unit: long } },
        { type: 'Tabs', props: { tabs: [{ title: long, body: [] }] } },
      ];
      await view.show(samples, { states: { q1: ['mars'], o1: long }, language });
      // Formulas and tables get their scroll bars after the first layout.
      await expect.poll(() => view.page.evaluate(pageWidth)).toBe(320);
      expect(await view.page.evaluate(textsOutside)).toEqual([]);
    },
  );

  it('formulas within a line, deep lists and growing text scroll by themselves', async () => {
    const view = await widgetsAt320();
    const formula = `<p>So <math>${'<mi>x</mi><mo>+</mo>'.repeat(90)}<mi>y</mi></math>.</p>`;
    const nested = (open: string, close: string, depth: number) => open.repeat(depth) + close.repeat(depth);
    const choices = [{ id: 'mars', html: formula, feedback: formula }];
    const parts = ['a', 'b', 'c'].map((id) => ({
      id,
      html: formula,
      left: formula,
      right: `${id} ${formula}`,
    }));
    await view.show(
      [
        text('t1', formula),
        text('t2', nested('<ul><li>x', '</li></ul>', 300)),
        text('t3', nested('<big>x', '</big>', 400)),
        {
          type: 'MultipleChoice',
          props: { ...question.props, prompt: formula, choices, explanation: formula },
        },
        { type: 'Callout', props: { title: 'Note', body: [text('t4', formula)] } },
        { type: 'Columns', props: { columns: [[text('t5', formula)], [text('t6', formula)]] } },
        { type: 'Accordion', props: { panels: [{ title: 'A', body: [text('t7', formula)], open: true }] } },
        { type: 'Quote', props: { html: formula, source: formula } },
        { type: 'Flashcards', props: { cards: [{ front: formula, back: formula }] } },
        { type: 'Matching', props: { id: 'm1', pairs: parts } },
        { type: 'Ordering', props: { id: 'r1', items: parts } },
        {
          type: 'FillInTheBlanks',
          props: { id: 'f1', text: `${formula} [[1]]`, blanks: [{ id: '1', answers: ['a'] }] },
        },
      ],
      { states: { q1: ['mars'] } },
    );
    expect(await view.page.evaluate(pageWidth)).toBe(320);
    const reached = () =>
      view.page.evaluate<
        boolean[]
      >(`[...document.querySelectorAll('.lectern-mathml:not(.lectern-cards-on-paper *)')].map((formula) => {
        formula.scrollLeft = 1e6;
        return formula.scrollLeft > 0 && formula.tabIndex === 0;
      })`);
    await expect.poll(reached).not.toContain(false);
  });

  it.each([
    ['ar', '.lectern-scroll', -1],
    // Formulas run from left to right in all languages.
    ['ar', '.lectern-mathml', 1],
  ])('in %s, a wide %s fades at the edges where it goes on', async (language, wide, sign) => {
    const view = await widgetsAt320();
    const { page } = view;
    const table = `<table><tr>${'<td>A cell of words</td>'.repeat(6)}</tr></table>`;
    const formula = `<math display="block">${'<mi>x</mi><mo>+</mo>'.repeat(12)}<mi>y</mi></math>`;
    await view.show([text('t1', table), text('t2', formula)], { language });
    const faded = () =>
      page.evaluate<string[]>(`(() => {
        const style = getComputedStyle(document.querySelector('${wide}'));
        if (style.maskImage === 'none') return [];
        return ['left', 'right'].filter((edge) => style.getPropertyValue('--lectern-cut-' + edge) !== '0px');
      })()`);
    const scrollTo = (share: number) =>
      page.evaluate(`(() => {
        const wide = document.querySelector('${wide}');
        wide.scrollLeft = ${sign * share} * (wide.scrollWidth - wide.clientWidth);
      })()`);
    const [start, end] = sign > 0 ? ['left', 'right'] : ['right', 'left'];
    await expect.poll(faded).toEqual([end]);
    await scrollTo(0.5);
    await expect.poll(faded).toEqual(['left', 'right']);
    await scrollTo(1);
    await expect.poll(faded).toEqual([start]);
    await page.setViewportSize({ width: 1280, height: 640 });
    await expect.poll(faded).toEqual([]);
  });
});

describe('the layout of a lesson', () => {
  it.each([320, 1280])('at %i pixels no step is wider than the page', async (width) => {
    const { page, start } = await lessonsAt(width);
    await start({ lesson: await demoLesson() });
    const wide = await page.evaluate<string[]>(`(() => {
      const wide = [];
      do {
        const { scrollWidth, clientWidth } = document.documentElement;
        if (scrollWidth > clientWidth || ${textsOutside}.length > 0) wide.push(document.querySelector('h1').textContent);
      } while (handle.next());
      return wide;
    })()`);
    expect(wide).toEqual([]);
  });

  it('the width of the player decides, not that of the page', async () => {
    const lesson = await demoLesson();
    lesson.sections.splice(1);
    lesson.sections[0]?.steps.splice(2);
    const pages: Page[] = [];
    for (const width of [320, 1280]) {
      const { page, start } = await openLesson(width);
      pages.push(page);
      await page.evaluate('document.getElementById("lesson").style.width = "320px"');
      await start({ lesson, cover: false });
      await page.locator('input').first().check();
      await page.getByRole('button', { name: 'Check answer' }).first().click();
    }
    const inBoth = <T>(script: string) => Promise.all(pages.map((page) => page.evaluate<T>(script)));
    const height = 'document.querySelector(".lectern-lesson").getBoundingClientRect().height';
    do {
      await inBoth('for (const image of document.images) image.loading = "eager"');
      // Pictures, sounds and videos change the layout when they load, at a different time on each page.
      const difference = async () => {
        const [one = 0, other = 0] = await inBoth<number>(height);
        return one - other;
      };
      await expect.poll(difference).toBe(0);
    } while ((await inBoth<boolean>('handle.next()'))[0]);
  });

  it('long words, titles and many steps fit into 320 pixels', async () => {
    const { page, start } = await lessonsAt(320);
    const steps = Object.fromEntries(
      Array.from({ length: 200 }, (_, index) => [`${long} ${index}`, [text('t1', long)]]),
    );
    await start({ lesson: lessonOf({ [long]: steps }, { title: `${long} ${long}` }) });
    await page.getByRole('button', { name: 'Contents' }).click();
    expect(await page.evaluate(pageWidth)).toBe(320);
    const drawer = 'document.querySelector("dialog")';
    expect(await page.evaluate(`${drawer}.scrollWidth - ${drawer}.clientWidth`)).toBe(0);
  });

  it('a right-to-left language mirrors the layout, and connected scripts get no letter spacing', async () => {
    const { page, start } = await lessonsAt(1200);
    const blocks = [
      { type: 'Heading', props: { id: 'h1', text: 'المد' } },
      { type: 'OpenResponse', props: { id: 'o1' } },
    ];
    const lesson = lessonOf({ قريب: { الشمس: [], القمر: blocks } });
    await start({ lesson, language: 'ar', startAt: 'القمر' });
    const left = (selector: string) =>
      page.evaluate<number>(`document.querySelector('${selector}').getBoundingClientRect().left`);
    expect(await left('.lectern-side')).toBeGreaterThan(await left('h1'));
    expect(await left('.lectern-steps > :first-child')).toBeGreaterThan(
      await left('.lectern-steps > :last-child'),
    );
    expect(await page.locator('.lectern-lesson').getAttribute('dir')).toBe('rtl');
    const texts = '[".lectern-step-title", ".lectern-heading-text", ".lectern-label"]';
    const spacing = `${texts}.map((text) => getComputedStyle(document.querySelector(text)).letterSpacing)`;
    expect(await page.evaluate(spacing)).toEqual(['normal', 'normal', 'normal']);
  });

  it.each([
    ['en', 'rtl', 'none', 'none'],
    ['ar', 'ltr', 'matrix(-1, 0, 0, 1, 0, 0)', 'matrix(-1, 0, 0, -1, 0, 0)'],
  ])(
    'arrows of a lesson in %s ignore the direction of its page, %s',
    async (language, dir, mirrored, turned) => {
      const { page, start } = await lessonsAt(1200);
      const panels = [{ title: 'A' }, { title: 'B' }];
      const accordion = { type: 'Accordion', props: { id: 'a1', panels } };
      await page.evaluate(`document.documentElement.dir = '${dir}'`);
      await start({ lesson: lessonOf({ Near: { Mercury: [accordion] }, Far: { Neptune: [] } }), language });
      await page.locator('.lectern-panel-title').first().click();
      const transformOf = (place: string) =>
        page.evaluate<string>(
          `getComputedStyle(document.querySelector('${place} > .lectern-icon')).transform`,
        );
      const down = 'matrix(0, 1, -1, 0, 0, 0)';
      await expect.poll(() => transformOf('[open] > .lectern-panel-title')).toBe(down);
      expect(await transformOf('details:not([open]) > .lectern-panel-title')).toBe(turned);
      expect(await transformOf('.lectern-outline-section[open] > summary')).toBe(down);
      expect(await transformOf('.lectern-steps .lectern-button:not([hidden])')).toBe(mirrored);
      await page.evaluate(`document.documentElement.removeAttribute('dir')`);
    },
  );

  it('nothing moves with prefers-reduced-motion', async () => {
    const { page, start } = await openLesson(400, { reducedMotion: 'reduce' });
    await start({ lesson: threeSteps() });
    await page.getByRole('button', { name: 'Contents' }).click();
    expect(await page.evaluate('document.getAnimations().length')).toBe(0);
  });
});

it('on paper, a step of a wide window has one wide column with everything in it, also what is closed', async () => {
  const body = (word: string) => [text(word, `<p>${word} words</p>`)];
  const panels = ['First', 'Second'].map((title) => ({ title, body: body(`${title}-panel`) }));
  const tabs = ['Third', 'Fourth'].map((title) => ({ title, body: body(`${title}-tab`) }));
  const blocks = [
    text('plain', `<p>Plain words. ${'More. '.repeat(300)}</p>`),
    { type: 'Accordion', props: { id: 'a', single: true, panels } },
    { type: 'Tabs', props: { id: 't', tabs } },
  ];
  const { page, start } = await openLesson(1280);
  await start({ lesson: lessonOf({ One: { Step: blocks } }) });
  await page.getByText('Third-tab words').waitFor();
  // A4 and Letter, without margins of 1 cm.
  for (const width of [718, 740]) {
    await page.emulateMedia({ media: 'print' });
    await page.setViewportSize({ width, height: 1000 });
    await page.evaluate(`dispatchEvent(new Event('beforeprint'))`);
    for (const word of ['Plain', 'First-panel', 'Second-panel', 'Third-tab', 'Fourth-tab']) {
      const box = await page.getByText(`${word} words`).boundingBox();
      expect(box?.width, word).toBeGreaterThan(500);
    }
    expect(await page.locator('.lectern-bar, .lectern-side').filter({ visible: true }).count()).toBe(0);
    await page.evaluate(`dispatchEvent(new Event('afterprint'))`);
    await page.emulateMedia({ media: 'screen' });
    await page.setViewportSize({ width: 1280, height: 700 });
    expect(await page.locator('.lectern-panel[open]').count()).toBe(0);
  }
});
