import { describe, expect, it } from 'vitest';
import { openQuestion, question, several } from './samples.ts';
import { demoSteps, type SampleBlock } from './widget-page.ts';
import { useWidgetLab } from './use-widget-lab.ts';

const file = useWidgetLab();

/**
 * Finds texts that overflow the page to either side, out of reach of scrolling. JavaScript for a
 * page.
 */
const textsOutside = `[...document.querySelectorAll('.lectern-block *')]
  .filter((node) => !node.closest('.lectern-scroll, pre, math') && [...node.childNodes].some((child) => child.nodeType === 3))
  .filter((node) => {
    const range = document.createRange();
    range.selectNodeContents(node);
    const { left, right } = range.getBoundingClientRect();
    return left < 0 || right > innerWidth;
  })
  .map((node) => node.outerHTML)`;

describe('layout', () => {
  it('nothing is wider than a 320 px screen, whatever the text', async () => {
    const narrow = await file.lab.open({ viewport: { width: 320, height: 640 } });
    const long = 'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft';
    const wide = `<table><tr>${'<td>A cell of some words</td>'.repeat(9)}</tr></table><pre>${'x '.repeat(200)}</pre>`;
    const samples: SampleBlock[] = [
      { type: 'Heading', props: { text: long, level: 1 } },
      {
        type: 'Text',
        props: { html: `<p>${long}</p>${wide}<math display="block"><mn>${'1'.repeat(90)}</mn></math>` },
      },
      { type: 'Columns', props: { columns: [[{ type: 'Text', props: { html: long } }], [question]] } },
      {
        type: 'MultipleChoice',
        props: {
          ...question.props,
          choices: [{ id: 'mars', html: long, feedback: long }],
          feedback: { right: long },
          explanation: long,
        },
      },
      { type: 'OpenResponse', props: { ...openQuestion.props, prompt: long, sampleAnswer: long } },
    ];
    const states = { q1: ['mars'], o1: long };
    const steps = (await demoSteps()).map(({ content }) => content.content);
    const languages = { en: [samples, ...steps], ar: [samples] };
    for (const [language, shown] of Object.entries(languages)) {
      for (const blocks of shown) {
        await narrow.show(blocks, { states, language });
        expect(await narrow.page.evaluate('document.documentElement.scrollWidth')).toBe(320);
        expect(await narrow.page.evaluate(textsOutside)).toEqual([]);
      }
    }
    await narrow.page.context().close();
  });

  it.each(['light', 'dark'] as const)(
    'text has a contrast of at least 4.5 to 1 in the %s scheme',
    async (colorScheme) => {
      const themed = await file.lab.open({ colorScheme });
      const text = {
        type: 'Text',
        props: { html: '<p>Text <a href="https://example.org">link</a></p><blockquote>quote</blockquote>' },
      };
      await themed.show(
        [
          text,
          { type: 'Callout', props: { title: 'T', body: [text] } },
          question,
          several,
          { ...question, props: { ...question.props, id: 'q3' } },
          openQuestion,
        ],
        { states: { q1: ['mars'], q2: ['mars', 'sun'], q3: ['sun'], o1: 'x' } },
      );
      const low = await themed.page.evaluate(`(() => {
      const channels = (color) => color.match(/[\\d.]+/g).map(Number);
      const luminance = ([r, g, b]) => [r, g, b].map((v) => v / 255).map((v) => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
        .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
      const ground = (node) => {
        for (let at = node; at; at = at.parentElement) {
          const color = channels(getComputedStyle(at).backgroundColor);
          if (color.length < 4 || color[3] === 1) return color;
        }
        return [255, 255, 255];
      };
      return [...document.querySelectorAll('main *')]
        .filter((node) => [...node.childNodes].some((child) => child.nodeType === 3 && child.data.trim()))
        .map((node) => {
          const [a, b] = [channels(getComputedStyle(node).color), ground(node)].map(luminance).sort((x, y) => y - x);
          return [node.className || node.localName, (a + 0.05) / (b + 0.05)];
        })
        .filter(([, ratio]) => ratio < 4.5);
    })()`);
      expect(low).toEqual([]);
      await themed.page.context().close();
    },
  );

  it('a step of 60 blocks, each with nested or formatted content, is shown completely, also a second time', async () => {
    const blocks = Array.from({ length: 20 }, (_, index) => [
      {
        type: 'Text',
        props: { id: `t${index}`, html: `<p>${'Water <strong>rises</strong> and falls. '.repeat(30)}</p>` },
      },
      { type: 'MultipleChoice', props: { ...question.props, id: `q${index}` } },
      { type: 'Callout', props: { id: `c${index}`, title: 'Note', body: [openQuestion] } },
    ]).flat();
    await file.shared.show(blocks);
    await file.shared.show(blocks);
    const { page } = file.shared;
    expect(await page.getByText('Water rises and falls.').count()).toBe(20);
    expect(await page.getByRole('radiogroup').count()).toBe(20);
    expect(await page.getByRole('textbox').count()).toBe(20);
  });
});
