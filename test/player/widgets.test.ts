import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { usedWidgetTypes } from '../../shared/lessons/blocks.ts';
import { coreWidgetFields } from '../../shared/lessons/core-widget-fields.ts';
import { coreWidgetTypes } from '../../shared/lessons/core-widgets.ts';
import type { Field, FieldKind, Fields } from '../../shared/lessons/widget-fields.ts';
import { openInFrame, useWidgetPage } from './player-lab.ts';
import { demoLesson, demoSteps, openQuestion, question } from './samples.ts';

const { lab, view, page } = useWidgetPage();

const blanks = {
  text: '<p>High water follows [[a]] water.</p>',
  blanks: [{ id: 'a', answers: ['low'] }],
};
const pairs = {
  pairs: [
    { id: 'a', left: 'New moon', right: 'Spring tide' },
    { id: 'b', left: 'First quarter', right: 'Neap tide' },
  ],
};
const media = '00000000-0000-4000-8000-000000000000';

describe('every core widget renders its content', () => {
  const text = (html: string) => ({ type: 'Text', props: { html } });

  it.each<[type: string, props: object, selector: string, text: string]>([
    ['Heading', { text: 'Tides & <b>time</b>', level: 3 }, 'h3', 'Tides & <b>time</b>'],
    ['Text', { html: '<p>Water <strong>rises</strong></p>' }, 'p strong', 'rises'],
    ['Image', { src: 'media:x', alt: 'a', caption: 'A <em>harbour</em>' }, 'figcaption em', 'harbour'],
    ['Video', { src: 'media:x', transcript: '<p>It turns.</p>' }, 'details p', 'It turns.'],
    ['Audio', { src: 'media:x', transcript: 'Waves break.' }, 'details .lectern-rich', 'Waves break.'],
    ['Callout', { title: 'Note', body: [text('<p>Inside</p>')] }, '[role=note] p >> nth=1', 'Inside'],
    ['Columns', { columns: [[], [text('<p>Right</p>')]] }, '.lectern-column-grid > :nth-child(2) p', 'Right'],
    ['Quote', { html: '<p>The sea <em>breathes</em></p>', source: 'A sailor' }, 'blockquote em', 'breathes'],
    ['Divider', {}, 'hr', ''],
    ['Math', { mathml: '<math><mi>M</mi></math>', latex: 'M' }, 'math', 'M'],
    ['Math', { latex: '\\frac{1}{2}' }, 'code', '\\frac{1}{2}'],
    ['Code', { code: 'x < 1', highlighted: '<span class="hljs-number">1</span>' }, 'pre .hljs-number', '1'],
    ['Code', { code: 'a <b>\n\n  c', language: 'c' }, 'pre', 'a <b>\n\n  c'],
    ['Accordion', { panels: [{ title: 'Kelp', body: [text('<p>Bends</p>')] }] }, 'details p', 'Bends'],
    ['Tabs', { tabs: [{ title: 'One', body: [text('<p>First</p>')] }] }, '[role=tabpanel] p', 'First'],
    ['Flashcards', { cards: [{ front: '<b>Ebb</b>', back: 'Flow' }] }, '.lectern-card-face b', 'Ebb'],
    ['TrueFalse', { prompt: 'The sea is blue.', trueLabel: 'Yes' }, '.lectern-choice-body >> nth=0', 'Yes'],
    ['FillInTheBlanks', blanks, '.lectern-blanks p', 'High water follows  water.'],
    ['Matching', pairs, '.lectern-pair-item >> nth=1', 'First quarter'],
    [
      'Ordering',
      {
        items: [
          { id: 'a', html: 'A' },
          { id: 'b', html: 'B' },
        ],
      },
      '.lectern-order-body >> nth=0',
      'B',
    ],
    ['Numeric', { prompt: 'How high?', correct: 3, unit: 'm' }, '.lectern-number-unit', 'm'],
    ['MultipleChoice', question.props, '.lectern-choice:nth-child(2) .lectern-choice-body', 'Mars'],
    ['OpenResponse', openQuestion.props, '.lectern-prompt p', 'Why?'],
  ])('%s', async (type, props, selector, content) => {
    await view.show([{ type, props }]);
    // Hidden text counts, because a transcript is collapsed until the learner opens it.
    expect((await page.locator(selector).textContent())?.trim()).toBe(content);
  });

  it('and is used in the demo lesson, which plays in test/player/archive-page', async () => {
    expect(usedWidgetTypes(await demoLesson())).toEqual([...coreWidgetTypes].sort());
  });

  it('the description replaces a picture that fails to load', async () => {
    await view.show([{ type: 'Image', props: { src: `media:${media}`, alt: 'A quay at low tide' } }]);
    await page.getByText('A quay at low tide').waitFor();
    expect(await page.locator('img').count()).toBe(0);
  });

  it('destroy leaves nothing behind', async () => {
    await view.show([question, openQuestion, { type: 'Callout', props: { title: 'T', body: [question] } }]);
    const left = await page.evaluate(`(() => {
      const hosts = [...document.querySelectorAll('[data-type]')];
      clear();
      return hosts.map((host) => host.innerHTML).join('');
    })()`);
    expect(left).toBe('');
  });
});

const anything = fc.jsonValue({ maxDepth: 3 });
const markup = fc.oneof(
  fc.string(),
  fc.constantFrom('<p>a', '</div>', '<table><tr>', '<math display="block">', '<img src=x>'),
  anything,
);
const url = fc.oneof(
  fc.constantFrom('media:x', 'http://[', 'data:text/vtt,', 'blob:x', '//', 'x:'),
  anything,
);
const identifier = fc.oneof(fc.constantFrom('a', 'b', '', 0, 'toString', '__proto__'), anything);
const listOf = (of: fc.Arbitrary<unknown>) => fc.oneof(fc.array(of, { maxLength: 4 }), anything);
const partly = (members: Record<string, fc.Arbitrary<unknown>>) =>
  fc.oneof({ weight: 4, arbitrary: fc.record(members, { requiredKeys: [] }) }, anything);

const nested = partly({ type: fc.constantFrom('Text', 5, null), props: partly({ html: markup }) });

const values: Record<Exclude<FieldKind, 'list' | 'object'>, fc.Arbitrary<unknown>> = {
  text: markup,
  number: fc.oneof(fc.integer(), anything),
  boolean: fc.oneof(fc.boolean(), anything),
  choice: markup,
  texts: listOf(identifier),
  html: markup,
  image: url,
  video: url,
  audio: url,
  captions: listOf(partly({ src: url, language: markup, label: markup })),
  blocks: listOf(fc.oneof(nested, listOf(nested))),
};

function membersOf(fields: Fields): fc.Arbitrary<unknown> {
  return partly(
    Object.fromEntries(
      Object.entries(fields).map(([name, field]) => [name, name === 'id' ? identifier : valueOf(field)]),
    ),
  );
}

function valueOf(field: Field): fc.Arbitrary<unknown> {
  if (field.kind === 'list') return listOf(membersOf(field.fields));
  return field.kind === 'object' ? membersOf(field.fields) : values[field.kind];
}

it.each(coreWidgetTypes)('%s accepts any props and any saved answer', async (type) => {
  const block = fc.tuple(membersOf(coreWidgetFields[type]), fc.oneof(listOf(identifier), anything));
  await fc.assert(
    fc.asyncProperty(fc.array(block, { minLength: 40, maxLength: 40 }), async (cases) => {
      const states = Object.fromEntries(cases.map(([, state], index) => [`b${index}`, state]));
      const blocks = cases.map(([given], index) => ({ type, props: withId(given, `b${index}`) }));
      // The page must have the type of the nested blocks.
      await view.show([...blocks, { type: 'Text', props: {} }], { states });
      await page.evaluate(`document.querySelectorAll('button').forEach((button) => button.click())`);
      expect(await view.failures()).toEqual([]);
    }),
    { numRuns: 3 },
  );
});

/** Props that are an object get an id, so that they can have a saved answer. */
function withId(props: unknown, id: string): unknown {
  return typeof props === 'object' && props !== null && !Array.isArray(props) ? { ...props, id } : props;
}

it('valid content beside invalid props is still shown', async () => {
  await view.show([
    {
      type: 'MultipleChoice',
      props: { prompt: 7, choices: [null, { id: 'a', html: 'Whole' }, {}], correct: 'a', points: 'many' },
    },
    {
      type: 'Callout',
      props: { title: [], body: ['x', { type: 'Text', props: { html: 'Kept' } }, { type: 9 }] },
    },
  ]);
  expect(await page.getByRole('radio', { name: 'Whole' }).count()).toBe(1);
  expect(await page.getByText('Kept').count()).toBe(1);
});

describe('languages', () => {
  it('a right-to-left language mirrors the layout', async () => {
    const sides = async (language: string) => {
      await view.show([question], { language });
      return page.evaluate<number[]>(`(() => {
        const [input, text] = ['.lectern-choice-input', '.lectern-choice-body'].map((s) => document.querySelector(s).getBoundingClientRect());
        return [input.left, text.left];
      })()`);
    };
    const [inputLeft = 0, textLeft = 0] = await sides('en');
    expect(inputLeft).toBeLessThan(textLeft);
    for (const language of ['ar', 'he-IL', 'fa', 'ku-Arab']) {
      const [inputRight = 0, textRight = 0] = await sides(language);
      expect(inputRight, language).toBeGreaterThan(textRight);
      const root = page.locator('.lectern-multiple-choice');
      expect([await root.getAttribute('lang'), await root.getAttribute('dir')]).toEqual([language, 'rtl']);
    }
  });
});

it("the widgets work in the player's sandboxed frame, without an origin and without forms", async () => {
  const outer = await lab.openWidgets();
  const frame = await openInFrame(outer.page, 'width: 600px; height: 600px');
  const video = (await demoSteps()).flat().find(({ type }) => type === 'Video');
  await frame.evaluate(`show(${JSON.stringify([question, video])})`);
  await frame.getByRole('radio', { name: 'Mars' }).focus();
  await outer.page.keyboard.press('Space');
  await outer.page.keyboard.press('Enter');
  expect(await frame.evaluate('reports')).toEqual([
    { id: 'q1', value: ['mars'], result: { score: 3, maxScore: 3 } },
  ]);
  // Captions are read across origins here, so the video has to use CORS mode.
  await frame.evaluate(`document.querySelector('track').track.mode = 'showing'`);
  await frame.waitForFunction(`document.querySelector('track').track.cues?.length > 3`);
  await frame.waitForFunction(`document.querySelector('video').readyState > 0`);
  await outer.close();
});
