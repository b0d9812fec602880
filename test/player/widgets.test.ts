import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { buildWidgets } from '../../player/build.ts';
import { coreWidgetTypes } from '../../shared/lessons/core-widgets.ts';
import { hostileHtml } from './hostile-html.ts';
import {
  demoSteps,
  startWidgetLab,
  type SampleBlock,
  type WidgetLab,
  type WidgetPage,
} from './widget-page.ts';

let lab: WidgetLab;
let shared: WidgetPage;

beforeAll(async () => {
  lab = await startWidgetLab();
  shared = await lab.open();
});
afterAll(() => lab.close());
// A widget that throws is wrong in every test, whatever else the test is about.
beforeEach(({ onTestFinished }) => {
  onTestFinished(async () => expect(await shared.failures()).toEqual([]));
});

const media = '00000000-0000-4000-8000-000000000000';

const question = {
  type: 'MultipleChoice',
  props: {
    id: 'q1',
    prompt: '<p>Which is a planet?</p>',
    choices: [
      { id: 'moon', html: 'The <em>Moon</em>' },
      { id: 'mars', html: 'Mars' },
      { id: 'sun', html: 'The Sun' },
    ],
    correct: ['mars'],
    points: 3,
    explanation: '<p>Mars goes round the Sun.</p>',
  },
};
const several = {
  type: 'MultipleChoice',
  props: { ...question.props, id: 'q2', correct: ['mars', 'moon'], partialCredit: true, points: 2 },
};
const open = {
  type: 'OpenResponse',
  props: { id: 'o1', prompt: '<p>Why?</p>', sampleAnswer: 'Because it <em>turns</em>.' },
};

describe('every core widget renders its content', () => {
  it.each<[string, SampleBlock, string, string]>([
    [
      'Heading',
      { type: 'Heading', props: { text: 'Tides & <b>time</b>', level: 3 } },
      'h3',
      'Tides & <b>time</b>',
    ],
    ['Text', { type: 'Text', props: { html: '<p>Water <strong>rises</strong></p>' } }, 'p strong', 'rises'],
    [
      'Image',
      { type: 'Image', props: { src: 'media:x', alt: 'a', caption: 'A <em>harbour</em>' } },
      'figcaption em',
      'harbour',
    ],
    [
      'Video',
      { type: 'Video', props: { src: 'media:x', transcript: '<p>It turns.</p>' } },
      'details p',
      'It turns.',
    ],
    [
      'Audio',
      { type: 'Audio', props: { src: 'media:x', transcript: 'Waves break.' } },
      'details .lectern-rich',
      'Waves break.',
    ],
    [
      'Callout',
      {
        type: 'Callout',
        props: { title: 'Note', body: [{ type: 'Text', props: { html: '<p>Inside</p>' } }] },
      },
      '[role=note] p >> nth=1',
      'Inside',
    ],
    [
      'Columns',
      { type: 'Columns', props: { columns: [[], [{ type: 'Text', props: { html: '<p>Right</p>' } }]] } },
      '.lectern-column-grid > :nth-child(2) p',
      'Right',
    ],
    ['MultipleChoice', question, 'label:nth-child(2)', 'Mars'],
    ['OpenResponse', open, '.lectern-prompt p', 'Why?'],
  ])('%s', async (_type, block, selector, text) => {
    await shared.show([block]);
    // Hidden text counts: a transcript is folded until the learner opens it.
    expect((await shared.page.locator(selector).textContent())?.trim()).toBe(text);
  });

  it('the build has a module and a stylesheet for each core type', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'lectern-build-'));
    try {
      const names = coreWidgetTypes.flatMap((type) => [`${type}.css`, `${type}.js`]).sort();
      expect(await buildWidgets(folder)).toEqual(names);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  it('every step of the demo lesson renders without a fault, and every medium in it loads', async () => {
    const demo = await lab.open({ viewport: { width: 1280, height: 800 } });
    const used = new Set<string>();
    for (const step of await demoSteps()) {
      await demo.show(step.content.content);
      await demo.page.evaluate(`Promise.all([...document.images].map((image) => {
        image.loading = 'eager';
        return image.decode();
      }))`);
      await demo.page.waitForFunction(
        `[...document.querySelectorAll('video, audio')].every((m) => m.readyState > 0)`,
      );
      expect(await demo.page.locator('.lectern-missing').count(), step.title).toBe(0);
      const types = await demo.page.evaluate<string[]>(
        `[...document.querySelectorAll('[data-type]')].map((e) => e.dataset.type)`,
      );
      for (const type of types) used.add(type);
    }
    expect(await demo.failures()).toEqual([]);
    expect([...used].sort()).toEqual([...coreWidgetTypes].sort());
    await demo.page.context().close();
  });

  it('a video offers its captions, in the language of the lesson', async () => {
    const steps = await demoSteps();
    const video = steps.flatMap(({ content }) => content.content).find(({ type }) => type === 'Video');
    await shared.show([video as SampleBlock], { language: 'pt-BR' });
    await shared.page.evaluate(`document.querySelector('track').track.mode = 'showing'`);
    await shared.page.waitForFunction(`document.querySelector('track').track.cues?.length > 3`);
    expect(await shared.page.locator('track').getAttribute('srclang')).toBe('pt-BR');
  });

  it('a picture that does not load gives way to its description', async () => {
    await shared.show([{ type: 'Image', props: { src: `media:${media}`, alt: 'A quay at low tide' } }]);
    await shared.page.getByText('A quay at low tide').waitFor();
    expect(await shared.page.locator('img').count()).toBe(0);
  });

  it('destroy leaves nothing behind', async () => {
    await shared.show([question, open, { type: 'Callout', props: { title: 'T', body: [question] } }]);
    const left = await shared.page.evaluate(`(() => {
      const hosts = [...document.querySelectorAll('[data-type]')];
      clear();
      return hosts.map((host) => host.innerHTML).join('');
    })()`);
    expect(left).toBe('');
  });
});

describe('MultipleChoice', () => {
  it('a click on an answer and on the button reports the choice ids, score and maxScore', async () => {
    const { page } = shared;
    await shared.show([question]);
    await page.getByText('Mars', { exact: true }).click();
    await page.getByRole('button', { name: 'Check answer' }).click();
    expect(await shared.reports()).toEqual([
      { id: 'q1', value: ['mars'], result: { score: 3, maxScore: 3 } },
    ]);
    expect(await page.getByRole('status').textContent()).toBe('Correct. Score: 3 of 3');
    expect(await page.getByText('Mars goes round the Sun.').isVisible()).toBe(true);
  });

  it('a wrong answer reports no points, and trying again reports the new one', async () => {
    const { page } = shared;
    await shared.show([question]);
    await page.getByRole('radio', { name: 'The Sun' }).check();
    await page.getByRole('button', { name: 'Check answer' }).click();
    expect(await page.getByRole('status').textContent()).toBe('Not correct. Score: 0 of 3');
    expect(await page.getByRole('radio', { name: 'The Moon' }).isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('radio', { name: 'Mars' }).check();
    await page.getByRole('button', { name: 'Check answer' }).click();
    expect((await shared.reports()).map(({ result }) => result?.score)).toEqual([0, 3]);
  });

  it('several right choices make checkboxes, and partial credit is told as such', async () => {
    const { page } = shared;
    await shared.show([several]);
    await page.getByRole('checkbox', { name: 'Mars' }).check();
    await page.getByRole('button', { name: 'Check answer' }).click();
    expect(await shared.reports()).toEqual([
      { id: 'q2', value: ['mars'], result: { score: 1, maxScore: 2 } },
    ]);
    expect(await page.getByRole('status').textContent()).toBe('Partly correct. Score: 1 of 2');
  });

  it('checking without an answer reports nothing and says what is missing', async () => {
    await shared.show([question]);
    await shared.page.getByRole('button', { name: 'Check answer' }).click();
    expect(await shared.reports()).toEqual([]);
    expect(await shared.page.getByRole('status').textContent()).toBe('Choose an answer first.');
  });

  it('a question without a right choice reports the answer without a score', async () => {
    await shared.show([{ type: 'MultipleChoice', props: { ...question.props, correct: [] } }]);
    await shared.page.getByRole('radio', { name: 'Mars' }).check();
    await shared.page.getByRole('button', { name: 'Check answer' }).click();
    expect(await shared.reports()).toEqual([{ id: 'q1', value: ['mars'] }]);
  });

  it('keyboard alone answers, and keeps its place on the page', async () => {
    const { page } = shared;
    await shared.show([question]);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Space');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    expect(await shared.reports()).toEqual([
      { id: 'q1', value: ['mars'], result: { score: 3, maxScore: 3 } },
    ]);
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Try again');
    await page.keyboard.press('Enter');
    expect(await page.evaluate('document.activeElement.value')).toBe('moon');
  });

  it('the choices are a named group', async () => {
    await shared.show([question]);
    const group = shared.page.getByRole('radiogroup', { name: 'Which is a planet?' });
    expect(await group.getByRole('radio').count()).toBe(3);
  });

  it('a saved answer comes back checked, marked and explained, and is not reported again', async () => {
    const { page } = shared;
    await shared.show([question], { states: { q1: ['mars'] } });
    expect(await page.getByRole('radio', { name: 'Mars' }).isChecked()).toBe(true);
    expect(await page.getByRole('status').textContent()).toBe('Correct. Score: 3 of 3');
    expect(await page.getByText('Mars goes round the Sun.').isVisible()).toBe(true);
    expect(await shared.reports()).toEqual([]);
  });

  it.each([['text'], [{ mars: true }], [['gone']], [[null]], [7]])(
    'starts anew from a state of %j',
    async (state) => {
      await shared.show([question], { states: { q1: state } });
      expect(await shared.page.getByRole('button').textContent()).toBe('Check answer');
    },
  );
});

describe('OpenResponse', () => {
  it('submitting reports the text and shows the sample answer to compare', async () => {
    const { page } = shared;
    await shared.show([open]);
    expect(await page.getByText('Because it turns.').isVisible()).toBe(false);
    await page.getByRole('textbox', { name: 'Why? Your answer' }).fill('  It spins. ');
    await page.getByRole('button', { name: 'Submit' }).click();
    expect(await shared.reports()).toEqual([{ id: 'o1', value: 'It spins.' }]);
    expect(await page.getByText('Because it turns.').isVisible()).toBe(true);
    expect(await page.getByRole('status').textContent()).toContain('Compare it');
  });

  it('an empty answer is not reported', async () => {
    await shared.show([open]);
    await shared.page.getByRole('button', { name: 'Submit' }).click();
    expect(await shared.reports()).toEqual([]);
    expect(await shared.page.evaluate('document.activeElement.tagName')).toBe('TEXTAREA');
  });

  it('a saved answer comes back with the sample answer', async () => {
    await shared.show([open], { states: { o1: 'Saved' } });
    expect(await shared.page.getByRole('textbox').inputValue()).toBe('Saved');
    expect(await shared.page.getByText('Because it turns.').isVisible()).toBe(true);
  });
});

describe('HTML of authors', () => {
  const places: [string, (html: string) => SampleBlock][] = [
    ['Text.html', (html) => ({ type: 'Text', props: { html } })],
    ['Image.caption', (html) => ({ type: 'Image', props: { src: 'media:x', caption: html } })],
    ['Video.transcript', (html) => ({ type: 'Video', props: { transcript: html } })],
    ['Audio.transcript', (html) => ({ type: 'Audio', props: { transcript: html } })],
    [
      'MultipleChoice.prompt',
      (html) => ({ type: 'MultipleChoice', props: { ...question.props, prompt: html } }),
    ],
    [
      'MultipleChoice.choices',
      (html) => ({ type: 'MultipleChoice', props: { ...question.props, choices: [{ id: 'a', html }] } }),
    ],
    [
      'MultipleChoice.explanation',
      (html) => ({ type: 'MultipleChoice', props: { ...question.props, explanation: html } }),
    ],
    ['OpenResponse.prompt', (html) => ({ type: 'OpenResponse', props: { prompt: html } })],
    [
      'OpenResponse.sampleAnswer',
      (html) => ({ type: 'OpenResponse', props: { id: 'o', sampleAnswer: html } }),
    ],
    ['Heading.text', (html) => ({ type: 'Heading', props: { text: html } })],
    ['Callout.title', (html) => ({ type: 'Callout', props: { title: html } })],
    ['Image.alt', (html) => ({ type: 'Image', props: { src: 'media:x', alt: html } })],
  ];

  it.each(places)('hostile HTML in %s does nothing', async (_place, blockOf) => {
    const victim = await lab.open();
    const blocks = hostileHtml.map(blockOf);
    await victim.show(blocks, { states: { o: 'answered', q1: ['a'] } });
    await victim.page.evaluate(`(async () => {
      for (const details of document.querySelectorAll('details')) details.open = true;
      for (const image of document.images) image.loading = 'eager';
      // What runs when it is used: hover, focus, and every link, without leaving the page.
      addEventListener('click', (event) => event.preventDefault());
      for (const node of document.querySelectorAll('main *')) {
        for (const type of ['mouseover', 'focus', 'toggle', 'click']) node.dispatchEvent(new Event(type, { bubbles: true, cancelable: true }));
      }
      await new Promise((done) => setTimeout(done, 150));
    })()`);
    const found = await victim.page.evaluate(`(() => {
      const all = [...document.querySelectorAll('main .lectern-rich *, main .lectern-heading *, main .lectern-note *, main img')];
      const attributes = all.flatMap((node) => [...node.attributes].map(({ name, value }) => [name, value.replace(/[\\s\\x00-\\x1f]/g, '')]));
      return {
        pwned: window.pwned ?? null,
        tags: [...new Set(all.map((node) => node.localName))].filter((tag) =>
          /^(script|iframe|object|embed|link|meta|base|style|form|input|button|textarea|select|foreignobject|animate|use|template|x-y|dialog)$/i.test(tag)),
        handlers: attributes.map(([name]) => name).filter((name) => name.startsWith('on')),
        addresses: attributes.filter(([name, value]) => name !== 'alt' && /^(javascript|vbscript|data:text)/i.test(value)),
        covering: all.filter((node) => getComputedStyle(node).position === 'fixed').length,
      };
    })()`);
    expect(found).toEqual({ pwned: null, tags: [], handlers: [], addresses: [], covering: 0 });
    expect(victim.requests.filter((path) => path.includes('leak'))).toEqual([]);
    expect(victim.page.url()).toBe(`${lab.origin}/`);
    expect(await victim.failures()).toEqual([]);
    await victim.page.context().close();
  });

  it.each([
    'javascript:window.pwned=1',
    'data:text/html,<script>parent.pwned=1</script>',
    'media:',
    'http://[',
    '//',
  ])('a source of %s does nothing', async (src) => {
    await shared.show(
      ['Image', 'Video', 'Audio'].map((type) => ({
        type,
        props: { src, poster: src, captions: src, alt: 'a' },
      })),
    );
    expect(await shared.page.evaluate('window.pwned ?? null')).toBeNull();
    expect(await shared.page.locator('iframe').count()).toBe(0);
  });

  it('media references resolve, alone, among sources, and in links', async () => {
    await shared.show([
      {
        type: 'Text',
        props: {
          html: `<p><img src="media:${media}" alt="a"><img src="./media/${media}.png" srcset="media:${media} 2x" alt="b">
            <a href="media:${media}">download</a></p><video src="media:${media}" poster="media:${media}"></video>
            <svg viewBox="0 0 9 9"><image href="media:${media}"></image></svg>`,
        },
      },
    ]);
    const text = await shared.page.locator('.lectern-rich').innerHTML();
    expect(text).not.toContain('media:');
    expect(text).not.toContain('./media/');
    expect(text.split(`"/media/${media}`).length - 1).toBe(7);
  });

  it('MathML stays and is laid out as mathematics', async () => {
    const formula = `<math display="block"><semantics><mfrac><mn>1</mn><msup><mi>d</mi><mn>3</mn></msup></mfrac>
      <annotation encoding="application/x-tex">\\frac{1}{d^3}</annotation></semantics></math>`;
    await shared.show([{ type: 'Text', props: { html: `<p>So</p>${formula}` } }]);
    const { page } = shared;
    expect(await page.locator('math mfrac msup').count()).toBe(1);
    expect(await page.locator('math').textContent()).not.toContain('frac');
    expect(await page.evaluate(`document.querySelector('mfrac') instanceof MathMLElement`)).toBe(true);
    const [top, bottom] = await page.evaluate<[number, number]>(
      `[...document.querySelector('mfrac').children].map((part) => part.getBoundingClientRect().top)`,
    );
    expect(bottom).toBeGreaterThan(top);
  });

  it('links open outside the lesson, without a handle on it; links within the text do not', async () => {
    await shared.show([
      {
        type: 'Text',
        props: {
          html: '<p><a href="https://example.org/x" target="_top" rel="opener">out</a> <a href="#note">in</a></p>',
        },
      },
    ]);
    const out = shared.page.getByText('out');
    expect(await out.getAttribute('target')).toBe('_blank');
    expect(await out.getAttribute('rel')).toBe('noopener noreferrer');
    expect(await shared.page.getByText('in', { exact: true }).getAttribute('target')).toBeNull();
  });

  it('what an editor styles stays: alignment, and nothing that loads or moves', async () => {
    await shared.show([
      {
        type: 'Text',
        props: {
          html: '<p style="text-align: center; color: red; margin: -99px; background: url(/leak)">mid</p>',
        },
      },
    ]);
    expect(await shared.page.getByText('mid').getAttribute('style')).toBe('text-align: center;');
  });

  it('plain text with blank lines becomes paragraphs', async () => {
    await shared.show([{ type: 'Text', props: { html: 'One\nline\n\nTwo' } }]);
    expect(await shared.page.locator('.lectern-rich p').count()).toBe(2);
  });
});

describe('wrong props never throw', () => {
  const values: unknown[] = [
    undefined,
    null,
    0,
    -1,
    1e9,
    '',
    'text',
    true,
    [],
    {},
    [null],
    [[]],
    [1, 'a'],
    { id: {} },
    [{ type: 5 }],
    { toString: 1 },
  ];
  const names: Record<string, string[]> = {
    Heading: ['text', 'level'],
    Text: ['html'],
    Image: ['src', 'alt', 'caption'],
    Video: ['src', 'poster', 'captions', 'transcript'],
    Audio: ['src', 'transcript'],
    Callout: ['title', 'body'],
    Columns: ['columns'],
    MultipleChoice: ['prompt', 'choices', 'correct', 'points', 'explanation', 'partialCredit'],
    OpenResponse: ['prompt', 'sampleAnswer'],
  };

  it.each(coreWidgetTypes)('%s', async (type) => {
    const whole = values.map((props) => ({ type, props }));
    const each = (names[type] ?? []).flatMap((name) =>
      values.map((value) => ({ type, props: { ...question.props, src: 'media:x', [name]: value } })),
    );
    await shared.show([...whole, ...each]);
    // The failures are checked after every test; here, that the page is still in order.
    expect(await shared.page.locator('[data-type]').count()).toBeGreaterThanOrEqual(
      whole.length + each.length,
    );
  });

  it('what is right beside what is wrong still shows', async () => {
    await shared.show([
      {
        type: 'MultipleChoice',
        props: { prompt: 7, choices: [null, { id: 'a', html: 'Whole' }, {}], correct: 'a', points: 'many' },
      },
      {
        type: 'Callout',
        props: { title: [], body: ['x', { type: 'Text', props: { html: 'Kept' } }, { type: 9 }] },
      },
    ]);
    expect(await shared.page.getByRole('radio', { name: 'Whole' }).count()).toBe(1);
    expect(await shared.page.getByText('Kept').count()).toBe(1);
  });
});

describe('languages', () => {
  it.each([
    ['en', 'Check answer'],
    ['es-MX', 'Comprobar respuesta'],
    ['fr', 'Vérifier la réponse'],
    ['de-AT', 'Antwort prüfen'],
    ['pt-BR', 'Verificar resposta'],
    ['ar', 'تحقّق من الإجابة'],
    ['zh-Hans', '检查答案'],
    ['tlh', 'Check answer'],
    ['not a language', 'Check answer'],
  ])('in %s the button says %s', async (language, label) => {
    await shared.show([question], { language, states: {} });
    expect(await shared.page.getByRole('button').textContent()).toBe(label);
  });

  it('a right-to-left language mirrors the layout', async () => {
    const sides = async (language: string) => {
      await shared.show([question], { language });
      return shared.page.evaluate<number[]>(`(() => {
        const [input, text] = ['.lectern-choice-input', '.lectern-choice-body'].map((s) => document.querySelector(s).getBoundingClientRect());
        return [input.left, text.left];
      })()`);
    };
    const [inputLeft = 0, textLeft = 0] = await sides('en');
    expect(inputLeft).toBeLessThan(textLeft);
    for (const language of ['ar', 'he-IL', 'fa', 'ku-Arab']) {
      const [inputRight = 0, textRight = 0] = await sides(language);
      expect(inputRight, language).toBeGreaterThan(textRight);
    }
  });

  it('the widget says its language and direction', async () => {
    await shared.show([question], { language: 'ar-EG' });
    const root = shared.page.locator('.lectern-multiple-choice');
    expect(await root.getAttribute('lang')).toBe('ar-EG');
    expect(await root.getAttribute('dir')).toBe('rtl');
  });
});

describe('layout', () => {
  it('nothing is wider than a 320 px screen, whatever the text', async () => {
    const narrow = await lab.open({ viewport: { width: 320, height: 640 } });
    const long = 'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft';
    const wide = `<table><tr>${'<td>A cell of some words</td>'.repeat(9)}</tr></table><pre>${'x '.repeat(200)}</pre>`;
    const samples: SampleBlock[] = [
      { type: 'Heading', props: { text: long, level: 1 } },
      {
        type: 'Text',
        props: { html: `<p>${long}</p>${wide}<math display="block"><mn>${'1'.repeat(90)}</mn></math>` },
      },
      { type: 'Columns', props: { columns: [[{ type: 'Text', props: { html: long } }], [question]] } },
      { type: 'MultipleChoice', props: { ...question.props, choices: [{ id: 'mars', html: long }] } },
    ];
    const steps = (await demoSteps()).map(({ content }) => content.content);
    for (const blocks of [samples, ...steps]) {
      await narrow.show(blocks);
      expect(await narrow.page.evaluate('document.documentElement.scrollWidth')).toBe(320);
    }
    await narrow.page.context().close();
  });

  it.each(['light', 'dark'] as const)(
    'text has a contrast of at least 4.5 to 1 in the %s scheme',
    async (colorScheme) => {
      const themed = await lab.open({ colorScheme });
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
          open,
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

  it('a step of 60 blocks, each with nested or formatted content, renders within half a second', async () => {
    const blocks = Array.from({ length: 20 }, (_, index) => [
      {
        type: 'Text',
        props: { id: `t${index}`, html: `<p>${'Water <strong>rises</strong> and falls. '.repeat(30)}</p>` },
      },
      { type: 'MultipleChoice', props: { ...question.props, id: `q${index}` } },
      { type: 'Callout', props: { id: `c${index}`, title: 'Note', body: [open] } },
    ]).flat();
    await shared.show(blocks);
    const again = await shared.show(blocks);
    expect(again).toBeLessThan(500);
  });
});

it('the widgets work in a sandboxed frame without an origin and without forms, as the player runs them', async () => {
  const outer = await lab.open();
  await outer.page.evaluate(`new Promise((done) => {
    const frame = document.createElement('iframe');
    frame.sandbox = 'allow-scripts';
    frame.width = frame.height = '600';
    frame.onload = done;
    frame.src = '/';
    document.body.append(frame);
  })`);
  const frame = outer.page.frames().find((candidate) => candidate.parentFrame());
  if (!frame) throw new Error('the frame did not load');
  await frame.waitForFunction('window.ready');
  const video = (await demoSteps())
    .flatMap(({ content }) => content.content)
    .find(({ type }) => type === 'Video');
  await frame.evaluate(`show(${JSON.stringify([question, video])})`);
  await frame.getByRole('radio', { name: 'Mars' }).focus();
  await outer.page.keyboard.press('Space');
  await outer.page.keyboard.press('Enter');
  expect(await frame.evaluate('reports')).toEqual([
    { id: 'q1', value: ['mars'], result: { score: 3, maxScore: 3 } },
  ]);
  // Captions are read across origins here, which the video has to be asked for in CORS mode to allow.
  await frame.evaluate(`document.querySelector('track').track.mode = 'showing'`);
  await frame.waitForFunction(`document.querySelector('track').track.cues?.length > 3`);
  await frame.waitForFunction(`document.querySelector('video').readyState > 0`);
  await outer.page.context().close();
});

describe('the build', () => {
  it('is deterministic, self-contained and tells nothing about the machine', async () => {
    const folders = await Promise.all([0, 1].map(() => mkdtemp(join(tmpdir(), 'lectern-build-'))));
    try {
      for (const folder of folders) await buildWidgets(folder);
      const [first = '', second = ''] = folders;
      const names = (await readdir(first)).sort();
      expect((await readdir(second)).sort()).toEqual(names);
      for (const name of names) {
        const bytes = await readFile(join(first, name));
        expect(bytes.equals(await readFile(join(second, name))), name).toBe(true);
        const source = bytes.toString();
        expect(source, name).not.toMatch(/sourceMappingURL|\bfrom\s*["']|\bimport\s*["'(]|@import|url\(/);
        expect(source.includes(process.cwd()) || source.includes(first), name).toBe(false);
      }
    } finally {
      for (const folder of folders) await rm(folder, { recursive: true, force: true });
    }
  });

  it('removes what an earlier build left', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'lectern-build-'));
    try {
      await buildWidgets(folder);
      await writeFile(join(folder, 'Gone.js'), '');
      expect(await buildWidgets(folder)).toEqual((await readdir(folder)).sort());
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});
