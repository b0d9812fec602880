import { cp, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { defaultOptions } from '../../shared/converters/converter.ts';
import markdown from '../../shared/converters/markdown/markdown.ts';
import { comparable } from '../../shared/converters/markdown/write-block.ts';
import { writeLesson } from '../../shared/converters/markdown/write-lesson.ts';
import { ConvertedMedia } from '../../shared/converters/media.ts';
import { ConversionReport } from '../../shared/converters/report.ts';
import { Source } from '../../shared/converters/source.ts';
import { coreWidgetTypes } from '../../shared/lessons/core-widgets.ts';
import { lessonBlocks } from '../../shared/lessons/blocks.ts';
import type { LessonContent } from '../../shared/lessons/lesson-content.ts';
import { FaultList } from '../../shared/packages/package-error.ts';
import { readPackage } from '../../shared/packages/read-package.ts';
import { packageRoot } from '../../shared/platform/paths.ts';
import { messageOfFailure, writePackage } from '../packages/package-folder.ts';
import { temporaryFolder } from '../support/folders.ts';
import { convertFile, convertPath } from './convert.ts';

const tides = `---
title: How Tides Work
language: en
description: Why the sea rises twice a day.
credits: Photo by Ada Lovelace, CC BY 4.0, https://example.org/photo
---
# The pull of the Moon
## A harbour that breathes {#harbour}
Water rises at 10:30, $h = A\\cos(\\omega t)$, for \\$5. *Twice* a day[^1].

[^1]: About.

![Boats lie in the mud](media/low.jpg "Low **tide**")

> [!TIP] Spring tides
> come twice a month.

\`\`\`js
const period = 12.42;
\`\`\`

::audio{src=media/waves.mp3 transcript="Three *waves*"}

### Which tide comes at full moon?
- [x] Spring tide
- [ ] Neap tide {#neap hint="At half moon"}
  > It comes at half moon.
{#q1 points=2 attempts=2 hint="Think of the Sun."}
:::explanation
In one line.
:::

Expect a [[spring|syzygy]]{hint="up"} tide after [[=12.4 ±0.1 h]].

It takes [[=12.4 ±0.1 h]].

:::matching
| New moon | Spring tide |
| Half moon | Neap tide |
:::
:::ordering
1. Moonrise
2. High water
:::
:::true-false{answer=false}
The Sun has no influence on the tides.
:::

\`\`\`widget Globe
zoom: 3
\`\`\`
`;

test('a lesson in Markdown becomes its blocks, with files, formulas, ids and a report', async () => {
  const path = await writePackage(
    { 'tides.md': tides, 'media/low.jpg': 'x', 'media/waves.mp3': 'y', 'README.md': '# No lesson' },
    'tides',
  );
  const { content, media, steps, entries, warnings } = await convertPath(path);
  expect(content.lesson).toMatchObject({
    ...{ title: 'How Tides Work', slug: 'how-tides-work', language: 'en' },
    cover: { text: 'Why the sea rises twice a day.' },
  });
  expect(content.sections[0]?.steps[0]).toMatchObject({ id: 'harbour' });
  const credit = {
    text: 'Photo by Ada Lovelace, CC BY 4.0',
    url: 'https://example.org/photo',
    portfolioUrl: '',
  };
  expect(media.map(({ attributions }) => attributions)).toEqual([[credit], [credit]]);
  const [low, waves] = media.map(({ id }) => `media:${id}`);
  expect(steps['A harbour that breathes']).toMatchObject([
    { type: 'Text', props: { html: expect.stringContaining('>h</mi>') as string } },
    { type: 'Image', props: { src: low, alt: 'Boats lie in the mud', caption: 'Low <strong>tide</strong>' } },
    {
      type: 'Callout',
      props: {
        kind: 'tip',
        title: 'Spring tides',
        body: [{ type: 'Text', props: { html: '<p>come twice a month.</p>' } }],
      },
    },
    { type: 'Code', props: { code: 'const period = 12.42;', language: 'js' } },
    { type: 'Audio', props: { src: waves, transcript: 'Three <em>waves</em>' } },
    {
      type: 'MultipleChoice',
      props: {
        ...{ id: 'q1', prompt: '<p>Which tide comes at full moon?</p>', points: 2, attempts: 2 },
        ...{
          hint: 'Think of the Sun.',
          explanation: '<p>In one line.</p>',
          correct: [expect.stringMatching(/^choice-/)],
        },
        choices: [
          { html: 'Spring tide' },
          { id: 'neap', html: 'Neap tide', hint: 'At half moon', feedback: 'It comes at half moon.' },
        ],
      },
    },
    {
      type: 'FillInTheBlanks',
      props: {
        text: '<p>Expect a [[spring]] tide after [[12-4]].</p>',
        blanks: [
          { id: 'spring', answers: ['spring', 'syzygy'], hint: 'up' },
          { id: '12-4', answers: ['12.4', '12.4 h'] },
        ],
      },
    },
    {
      type: 'Numeric',
      props: { prompt: '<p>It takes _____.</p>', correct: 12.4, tolerance: 0.1, unit: 'h' },
    },
    {
      type: 'Matching',
      props: { pairs: [{ left: 'New moon', right: 'Spring tide' }, { left: 'Half moon' }] },
    },
    { type: 'Ordering', props: { items: [{ html: 'Moonrise' }, { html: 'High water' }] } },
    { type: 'TrueFalse', props: { prompt: '<p>The Sun has no influence on the tides.</p>', correct: false } },
    { type: 'Globe', props: { zoom: 3 } },
  ]);
  // Each block of the lesson is in the report once.
  const ids = [...lessonBlocks(content)].map(({ block }) => block.props.id);
  expect(entries.map(({ blockId }) => blockId).sort()).toEqual(ids.sort());
  expect(entries.map(({ path: at, kind, result }) => `${at} ${kind} ${result}`)).toContain(
    'tides.md:33 FillInTheBlanks partial',
  );
  expect(warnings).toEqual([]);
});

test('faults name file and line, all at once', async () => {
  const faulty = `---
tilte: Tides
estimatedDuration: long
---
# Tides {#a}
## One {#b}
![Low tide](media/low.jpg)

- [ ] A
- [ ] B

:::matchin
| a | b |
:::
:::true-false{anwser=true atempts=2}
Statement
:::
{lost=1}
:::ordering
Text
:::
## Two {#b}
> :::panel
> :::
`;
  const message = await messageOfFailure(convertFile('tides.md', faulty));
  const lineOf = (fault: string) => Number(/:(\d+):/.exec(fault)?.[1]);
  expect(message.split('\n').sort((one, other) => lineOf(one) - lineOf(other))).toEqual([
    'tides.md:2: front matter has no field tilte; did you mean title?',
    'tides.md:3: estimatedDuration: must be a number of minutes',
    'tides.md:7: "media/low.jpg" is not beside the text: put it into the folder or the ZIP that you import',
    'tides.md:9: no choice is marked as right; write [x] before it, or {points=0} for no score',
    'tides.md:12: there is no block matchin; did you mean matching?',
    'tides.md:15: "anwser" is no attribute of TrueFalse; did you mean answer?',
    'tides.md:15: "atempts" is no attribute of TrueFalse; did you mean attempts?',
    'tides.md:18: "lost" is no attribute of TrueFalse',
    'tides.md:19: ordering needs a numbered list at its end',
    'tides.md:22: the step at tides.md:6 has the id b, too',
    'tides.md:23: :::panel cannot be inside this text',
  ]);
});

test('ids stay when other parts change', async () => {
  const idsOf = async (text: string) =>
    new Set(
      (await convertFile('tides.md', text)).entries.map(({ stepId, blockId }) => `${stepId} ${blockId}`),
    );
  const text = tides.replaceAll(/^!\[.*$|^::audio.*$/gm, '');
  const before = await idsOf(text);
  const changed = text
    .replace('## A harbour', '## Before\nAn earlier step.\n## A harbour')
    .replace('### Which', 'Another text.\n\n{}\n\n### Which')
    .replace('| Half moon', '| Quarter moon | Neap tide |\n| Half moon');
  const after = await idsOf(changed);
  const lost = [...before].filter((id) => !after.has(id));
  // Only the question with other pairs.
  expect(lost).toHaveLength(1);
});

/** Returns what a lesson says, without ids that import makes and what import writes. */
const partsOf = ({ sections }: LessonContent) =>
  sections.map(({ title, steps }) => ({
    title,
    steps: steps.map((step) => ({
      title: step.title,
      blocks: step.content.content.map(({ type = '', props }) => comparable({ type, props })),
    })),
  }));

/** Removes ids of sections, steps and blocks, and names media by their place in the lesson. */
const withoutIds = (content: LessonContent) => {
  const media: string[] = [];
  const text = JSON.stringify(partsOf(content)).replaceAll(/media:[0-9a-f-]{36}/g, (id) => {
    if (!media.includes(id)) media.push(id);
    return `media:${media.indexOf(id)}`;
  });
  return JSON.parse(text, (key, value: unknown) =>
    key === 'id' && typeof value === 'string' && /-[0-9a-f]{8}-/.test(value) ? undefined : value,
  ) as unknown;
};

test('the demo lesson in Markdown is the demo lesson, and uses every core widget', async () => {
  const folder = join(await temporaryFolder(), 'demo');
  await mkdir(join(folder, 'lesson'), { recursive: true });
  await cp(join(packageRoot, 'demo', 'lesson', 'media'), join(folder, 'lesson', 'media'), {
    recursive: true,
  });
  await cp(join(packageRoot, 'demo', 'lesson.md'), join(folder, 'lesson.md'));
  const [converted, original] = await Promise.all([
    convertPath(folder),
    readPackage(join(packageRoot, 'demo', 'lesson')),
  ]);
  expect(withoutIds(converted.content)).toEqual(withoutIds(original.content));
  expect(converted.lessonId).toBe(original.lessonId);
  expect(converted.media.map(({ attributions }) => attributions)).toEqual(
    expect.arrayContaining(original.media.map(({ attributions }) => attributions)),
  );
  expect(converted.entries.every(({ result }) => result === 'converted')).toBe(true);
  const types = [...lessonBlocks(converted.content)].map(({ block }) => block.type);
  expect(coreWidgetTypes.filter((type) => !types.includes(type))).toEqual([]);
  const text = await readFile(join(folder, 'lesson.md'), 'utf8');
  expect(text).not.toContain('```widget');
});

/* Texts with everything that means something in Markdown, YAML or attributes. */
const piece = fc.constantFrom(
  ...[
    'tide',
    'Moon',
    ' ',
    '*',
    '_',
    '`',
    '#',
    '{',
    '}',
    '[',
    ']',
    '(',
    ')',
    '|',
    '$',
    '\\',
    '<b>',
    '&',
    '"',
    "'",
  ],
  ...[
    '- ',
    '1. ',
    '> ',
    '---',
    ':::',
    '{#id}',
    '[[x]]',
    '[x] ',
    '![a](b)',
    'é',
    '潮',
    '\u202e',
    ':',
    '!',
    '~',
    '^',
    '=',
  ],
);
const plain = fc.array(piece, { minLength: 1, maxLength: 6 }).map((pieces) => `a${pieces.join('')}z`);
const escaped = plain.map((text) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;'),
);
const html = fc.oneof(
  escaped,
  escaped.map((text) => `<p>${text}</p>`),
  fc.tuple(escaped, escaped).map(([a, b]) => `<p>${a}</p><ul><li>${b}</li></ul>`),
  escaped.map((text) => `<p><em>x</em>${text}<sub>2</sub></p>`),
  escaped.map((text) => `<table><tbody><tr><td>${text}</td></tr></tbody></table>\n\n<p>x</p>`),
);
const optional = fc.record(
  {
    ...{ hint: html, explanation: html, points: fc.nat(9), attempts: fc.integer({ min: 1, max: 9 }) },
    ...{ partialCredit: fc.boolean(), showAnswers: fc.boolean(), variable: plain },
    feedback: fc.record({ right: html, wrong: html }, { requiredKeys: [] }),
    visibleIf: fc.record({ variable: plain, op: fc.constant('eq'), value: fc.oneof(fc.integer(), plain) }),
  },
  { requiredKeys: [] },
);
const parts = (values: Record<string, fc.Arbitrary<unknown>>, list: fc.Arbitrary<unknown>[] = []) =>
  fc.tuple(fc.record(values), optional, ...list).map(([props, more]) => ({ ...more, ...props }));
const listed = <T>(of: fc.Arbitrary<T>) => fc.array(of, { minLength: 1, maxLength: 3 });
const numbered = <T extends object>(of: fc.Arbitrary<T>) =>
  listed(of).map((list) => list.map((one, index) => ({ id: `p${index}`, ...one })));
const choice = fc.record({ html, feedback: html, hint: html }, { requiredKeys: ['html'] });
const { block } = fc.letrec<{ block: { type: string; props: object } }>((tie) => {
  const blocks = fc.array(tie('block'), { maxLength: 2 });
  const titled = listed(fc.record({ title: plain, body: blocks }));
  const propsOf: Record<string, fc.Arbitrary<object>> = {
    Heading: fc.record({ text: plain, level: fc.integer({ min: 1, max: 6 }) }),
    Text: fc.record({ html }),
    Image: fc.record({
      src: fc.constantFrom('https://media.example/a b.jpg', 'media/x.jpg'),
      alt: plain,
      caption: html,
    }),
    Video: fc.record({ src: fc.constant('media/x.mp4'), transcript: html }),
    Audio: fc.record({
      src: fc.constant('media/x.mp3'),
      captions: fc.constant([{ src: 'media/x.vtt', language: 'de' }]),
    }),
    Quote: fc.record({ html, source: html }),
    Divider: fc.constant({}),
    Callout: fc.record({
      kind: fc.constantFrom('note', 'tip', 'warning', 'example'),
      title: plain,
      body: blocks,
    }),
    Columns: fc.record({ columns: listed(blocks) }),
    Accordion: fc.record({ panels: titled, single: fc.boolean() }),
    Tabs: fc.record({ tabs: titled }),
    Flashcards: fc.record({ cards: listed(fc.record({ front: html, back: html, hint: html })) }),
    Code: fc.record({ code: plain, language: fc.constantFrom('python', 'js') }),
    Math: fc.record({ latex: plain, caption: html }),
    MultipleChoice: parts({ prompt: html, choices: numbered(choice), correct: fc.constant(['p0']) }),
    TrueFalse: parts({ prompt: html, correct: fc.boolean(), trueLabel: plain }),
    FillInTheBlanks: parts({
      prompt: html,
      text: escaped.map((text) => `<p>${text} [[g]] ${text}</p>`),
      blanks: listed(plain).map((answers) => [{ id: 'g', answers }]),
      wordBank: fc.boolean(),
    }),
    Matching: parts({ prompt: html, pairs: numbered(fc.record({ left: html, right: html })) }),
    Ordering: parts({ prompt: html, items: numbered(fc.record({ html })) }),
    Numeric: parts({
      prompt: html,
      correct: fc.integer(),
      tolerance: fc.constantFrom(0.5, '5%'),
      unit: plain,
    }),
    OpenResponse: fc.record({ prompt: html, sampleAnswer: html }),
    Globe: fc.record({ zoom: fc.nat(), names: listed(plain) }),
  };
  const types = Object.keys(propsOf);
  expect(coreWidgetTypes.filter((type) => !types.includes(type))).toEqual([]);
  return {
    block: fc.oneof(
      ...types.map((type) => (propsOf[type] ?? fc.constant({})).map((props) => ({ type, props }))),
    ),
  };
});

test('a lesson that is written as Markdown and read again is the same lesson', async () => {
  const steps = fc.array(fc.record({ title: plain, blocks: fc.array(block, { maxLength: 3 }) }), {
    maxLength: 2,
  });
  const run = async (
    title: string,
    given: { title: string; blocks: { type: string; props: object }[] }[],
  ) => {
    let count = 0;
    const identified = JSON.parse(JSON.stringify(given), (_key, value: unknown) => {
      const { type, props } = (value ?? {}) as { type?: unknown; props?: object };
      if (typeof type !== 'string' || props === undefined) return value;
      return { type, props: { id: `b ${(count += 1)}`, ...props } };
    }) as typeof given;
    const content = {
      lesson: {
        id: crypto.randomUUID(),
        slug: 'a',
        title,
        status: 'draft',
        variable_definitions: [],
        widget_settings: { overrides: {} },
      },
      sections: [
        {
          ...{ id: 'section', title, order_index: 0 },
          steps: identified.map((step, index) => ({
            ...{ id: `step ${index}`, title: step.title, order_index: index },
            content: { content: step.blocks, root: {} },
          })),
        },
      ],
    } as unknown as LessonContent;
    const files = ['media/x.jpg', 'media/x.mp4', 'media/x.mp3', 'media/x.vtt'];
    const written = writeLesson(
      content,
      { pathOf: (path) => path, file: (path) => (files.includes(path) ? path : null) },
      new Map(),
    );
    expect(written.losses).toEqual([]);
    const source = new Source(
      'lesson',
      ['lesson.md', ...files].map((path) => ({ path, size: 1 })),
      () => Promise.resolve(Readable.from([Buffer.from(written.markdown)])),
    );
    const faults = new FaultList();
    const job = {
      media: new ConvertedMedia(source),
      report: new ConversionReport(),
      faults,
      options: defaultOptions,
    };
    const read = await markdown.convert(source, job);
    faults.throwIfAny();
    const names = new Map(
      job.media.all.map(({ id, origin }) => [`media:${id}`, 'path' in origin ? origin.path : '']),
    );
    const text = JSON.stringify(read.sections).replaceAll(
      /media:[0-9a-f-]{36}/g,
      (id) => names.get(id) ?? id,
    );
    const sections = (JSON.parse(text) as typeof read.sections).map((section) => ({
      ...section,
      steps: section.steps.map((step) => ({ ...step, content: { content: step.blocks } })),
    }));
    expect(partsOf({ sections } as unknown as LessonContent)).toEqual(partsOf(content));
    expect(read.lesson.title).toBe(title);
    expect(sections[0]?.steps.map(({ id }) => id)).toEqual(content.sections[0]?.steps.map(({ id }) => id));
  };
  await fc.assert(fc.asyncProperty(plain, steps, run), { numRuns: 25 });
});

test.each([
  ['quotations', '> '.repeat(300)],
  ['lists', '- '.repeat(300)],
  ['brackets', `${'['.repeat(20_000)}x`],
  ['emphasis', '*a **'.repeat(5_000)],
  ['aliases', '---\na: &a [x, x]\nb: &b [*a, *a, *a, *a, *a, *a]\ntitle: [*b, *b, *b, *b]\n---\n# A'],
])('hostile %s end quickly, with a sentence or a lesson', async (_what, text) => {
  const result = await convertFile('tides.md', `# A\n## B\n${text}\n`).then(
    () => 'converted',
    (error: unknown) => (error instanceof Error ? error.message : ''),
  );
  expect(result).toMatch(/^converted$|^tides\.md(?::\d+)?: .+$/);
});
