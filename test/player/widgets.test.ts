import { describe, expect, it } from 'vitest';
import { coreWidgetTypes } from '../../shared/lessons/core-widgets.ts';
import { openQuestion, question } from './samples.ts';
import { demoSteps, type SampleBlock } from './widget-page.ts';
import { useWidgetLab } from './use-widget-lab.ts';

const file = useWidgetLab();

const media = '00000000-0000-4000-8000-000000000000';

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
    ['MultipleChoice', question, '.lectern-choice:nth-child(2) .lectern-choice-body', 'Mars'],
    ['OpenResponse', openQuestion, '.lectern-prompt p', 'Why?'],
  ])('%s', async (_type, block, selector, text) => {
    await file.shared.show([block]);
    // Hidden text counts, because a transcript is collapsed until the learner opens it.
    expect((await file.shared.page.locator(selector).textContent())?.trim()).toBe(text);
  });

  it('every step of the demo lesson renders without an error, and all its media load', async () => {
    const demo = await file.lab.open({ viewport: { width: 1280, height: 800 } });
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
    await file.shared.show([video as SampleBlock], { language: 'pt-BR' });
    await file.shared.page.evaluate(`document.querySelector('track').track.mode = 'showing'`);
    await file.shared.page.waitForFunction(`document.querySelector('track').track.cues?.length > 3`);
    expect(await file.shared.page.locator('track').getAttribute('srclang')).toBe('pt-BR');
  });

  it('the description replaces a picture that fails to load', async () => {
    await file.shared.show([{ type: 'Image', props: { src: `media:${media}`, alt: 'A quay at low tide' } }]);
    await file.shared.page.getByText('A quay at low tide').waitFor();
    expect(await file.shared.page.locator('img').count()).toBe(0);
  });

  it('destroy leaves nothing behind', async () => {
    await file.shared.show([
      question,
      openQuestion,
      { type: 'Callout', props: { title: 'T', body: [question] } },
    ]);
    const left = await file.shared.page.evaluate(`(() => {
      const hosts = [...document.querySelectorAll('[data-type]')];
      clear();
      return hosts.map((host) => host.innerHTML).join('');
    })()`);
    expect(left).toBe('');
  });
});

describe('invalid props never throw', () => {
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
    await file.shared.show([...whole, ...each]);
    // A hook checks the failures after every test; this checks that the page still works.
    expect(await file.shared.page.locator('[data-type]').count()).toBeGreaterThanOrEqual(
      whole.length + each.length,
    );
  });

  it('valid content beside invalid props is still shown', async () => {
    await file.shared.show([
      {
        type: 'MultipleChoice',
        props: { prompt: 7, choices: [null, { id: 'a', html: 'Whole' }, {}], correct: 'a', points: 'many' },
      },
      {
        type: 'Callout',
        props: { title: [], body: ['x', { type: 'Text', props: { html: 'Kept' } }, { type: 9 }] },
      },
    ]);
    expect(await file.shared.page.getByRole('radio', { name: 'Whole' }).count()).toBe(1);
    expect(await file.shared.page.getByText('Kept').count()).toBe(1);
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
  ])('in %s the button text is %s', async (language, label) => {
    await file.shared.show([question], { language, states: {} });
    expect(await file.shared.page.getByRole('button').textContent()).toBe(label);
  });

  it('a right-to-left language mirrors the layout', async () => {
    const sides = async (language: string) => {
      await file.shared.show([question], { language });
      return file.shared.page.evaluate<number[]>(`(() => {
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

  it('the widget sets its language and direction', async () => {
    await file.shared.show([question], { language: 'ar-EG' });
    const root = file.shared.page.locator('.lectern-multiple-choice');
    expect(await root.getAttribute('lang')).toBe('ar-EG');
    expect(await root.getAttribute('dir')).toBe('rtl');
  });
});

it("the widgets work in the player's sandboxed frame, without an origin and without forms", async () => {
  const outer = await file.lab.open();
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
  // Captions are read across origins here, so the video has to use CORS mode.
  await frame.evaluate(`document.querySelector('track').track.mode = 'showing'`);
  await frame.waitForFunction(`document.querySelector('track').track.cues?.length > 3`);
  await frame.waitForFunction(`document.querySelector('video').readyState > 0`);
  await outer.page.context().close();
});
