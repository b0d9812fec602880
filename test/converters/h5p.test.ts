import { expect, test } from 'vitest';
import { countResults } from '../../shared/lessons/loss-report.ts';
import { messageOfFailure } from '../packages/package-folder.ts';
import { writeArchive, zipBytes } from '../packages/zip-builder.ts';
import { convertFile, convertPath } from './convert.ts';
import { convertH5p, elementsOf, h5pBytes, image, sub, text } from './h5p-file.ts';
import type { H5pFile } from './h5p-file.ts';

/* The report, contents of contents, credits, and damaged files. */

const quiz = sub('MultiChoice', { question: 'Who pulls?', answers: [{ text: 'Moon', correct: true }] });

/** Every kind of element: shown, dropped, within dropped ones, in fields without a counterpart, and unused files. */
const book: H5pFile = {
  type: 'InteractiveBook',
  files: ['images/a.png', 'images/unused.png', 'videos/lost.mp4'],
  params: {
    showCoverPage: true,
    bookCover: { coverDescription: '<p>Read me</p>', coverMedium: image('images/a.png') },
    chapters: [
      sub(
        'Column',
        {
          content: [
            { content: text('One') },
            { content: quiz },
            {
              content: sub('ImageHotspots', {
                hotspots: [
                  { content: [text('In'), sub('Video', { sources: [{ path: 'videos/lost.mp4' }] })] },
                ],
              }),
            },
          ],
        },
        { title: 'First' },
      ),
      sub('Column', { content: [{ content: sub('Summary', {}) }, {}, null] }, { title: 'Empty' }),
      {
        chapter: sub('Column', {
          content: [
            { content: sub('Accordion', { panels: [{ title: 'P', content: text('Q') }], extra: text('X') }) },
          ],
        }),
      },
    ],
  },
};

test('each content and each file is in the report exactly once, and the lesson has a section for each chapter', async () => {
  const { content, entries } = await convertH5p(book);
  expect(content.sections.map(({ title }) => title)).toEqual(['Tides', 'First', 'Tides (3)']);
  expect(entries.map(({ kind }) => kind).sort()).toEqual(elementsOf(book));
  expect(new Set(entries.map(({ path }) => path)).size).toBe(entries.length);
  expect(countResults(entries)).toEqual({ converted: 10, partial: 0, kept: 0, dropped: 7 });
  const dropped = entries.filter(({ result }) => result === 'dropped');
  expect(dropped.map(({ path, reason }) => `${path.replace('content/content.json', '')}: ${reason}`)).toEqual(
    [
      '#/chapters/0/params/content/2/content: Lectern has no counterpart of H5P.ImageHotspots',
      '#/chapters/0/params/content/2/content/params/hotspots/0/content/0: it is part of a content that is dropped',
      '#/chapters/0/params/content/2/content/params/hotspots/0/content/1: it is part of a content that is dropped',
      '#/chapters/1/params/content/0/content: it is empty',
      '#/chapters/2/chapter/params/content/0/content/params/extra: Lectern has no place for it in H5P.Accordion',
      'content/images/unused.png: no block shows it',
      'content/videos/lost.mp4: no block shows it',
    ],
  );
  const question = content.sections[1]?.steps[0]?.content.content[1];
  expect(entries.find(({ kind }) => kind === 'H5P.MultiChoice')?.blockId).toBe(question?.props.id);
});

test('a question set becomes steps, and says which of its rules are lost', async () => {
  const questions = ['A', 'B', 'C'].map((question) => sub('TrueFalse', { question, correct: 'true' }));
  const params = {
    introPage: { showIntroPage: true, introduction: '<p>Ready?</p>' },
    ...{ questions, poolSize: 2, randomQuestions: true, passPercentage: 50 },
    override: { retryButton: 'off', showSolutionButton: 'on' },
    endGame: {
      overallFeedback: [{ from: 0, to: 100, feedback: 'You got @score of @total' }],
      oldFeedback: { failComment: 'Again!' },
    },
  };
  const bytes = h5pBytes({ type: 'QuestionSet', params });
  const { steps, entries } = await convertFile('tides.h5p', bytes, { questionsPerStep: 2 });
  expect(Object.entries(steps).map(([title, blocks]) => `${title}: ${blocks.length}`)).toEqual([
    'Tides: 1',
    'Tides (1): 2',
    'Tides (2): 1',
  ]);
  expect(steps['Tides (2)']).toMatchObject([{ props: { prompt: 'C', attempts: 1 } }]);
  expect(entries[0]?.reason).toBe(
    'the pass mark of 50 %; learners get all 3 questions, not 2 of them; the random order of its questions; texts at the end',
  );
});

test('a presentation becomes a step for each slide, in reading order', async () => {
  const at = (x: number, y: number, action: object, more: object = {}) => ({ x, y, action, ...more });
  const slides = [
    {
      elements: [
        at(50, 0, text('2')),
        at(0, 60.5, text('3'), { solution: '<p>Note</p>' }),
        at(0, 0, text('1')),
      ],
      keywords: [{ main: 'Low &amp; high' }],
    },
    { elements: [at(0, 0, text('4')), { x: 1, y: 1, goToSlide: 1 }], keywords: ['Old'] },
    { elements: [at(0, 0, sub('Shape', {}))] },
  ];
  for (const params of [{ presentation: { slides } }, { slides }]) {
    const { steps, entries } = await convertH5p({ type: 'CoursePresentation', params });
    expect(steps).toMatchObject({
      'Low & high': [
        { props: { html: '1' } },
        { props: { html: '2' } },
        { props: { html: '3' } },
        { type: 'Callout' },
      ],
      Old: [{ props: { html: '4' } }],
    });
    expect(entries[0]?.reason).toBe('the layout of its slides; links between its slides');
    expect(entries.map(({ kind }) => kind).sort()).toEqual(
      elementsOf({ type: 'CoursePresentation', params }),
    );
  }
});

test('authors, sources and licenses become credits, and what may not be adapted is kept with a warning', async () => {
  const owned = {
    title: 'Moon',
    authors: [{ name: 'Ada &amp; Co', role: 'Author' }],
    license: 'CC BY-ND',
    licenseVersion: '4.0',
    source: 'https://example.org/moon',
  };
  const copyright = {
    title: 'Sun',
    author: 'Grace',
    license: 'CC BY',
    version: '2.0',
    source: 'javascript:alert(1)',
    year: '2016',
  };
  const file: H5pFile = {
    type: 'Column',
    info: {
      license: 'CC BY-SA',
      licenseVersion: '3.0',
      authors: [{ name: 'Hypatia' }],
      yearFrom: 2015,
      yearTo: 2016,
    },
    files: ['images/a.png', 'images/b.png'],
    params: {
      content: [
        image('images/a.png', owned),
        sub('Image', { file: { path: 'images/b.png', copyright } }),
        sub(
          'MultiChoice',
          { question: 'Q', answers: [{ text: 'A', correct: true }], behaviour: { singlePoint: true } },
          { license: 'CC BY-NC-ND', title: 'Untitled' },
        ),
      ].map((content) => ({ content })),
    },
  };
  const { content, entries, media } = await convertH5p(file);
  expect(media.map(({ attributions }) => attributions[0])).toEqual([
    {
      text: 'Moon, Ada & Co, CC BY-ND 4.0 (https://creativecommons.org/licenses/by-nd/4.0/)',
      url: 'https://example.org/moon',
      portfolioUrl: '',
    },
    {
      text: 'Sun, Grace, 2016, CC BY 2.0, javascript:alert(1)',
      url: 'https://creativecommons.org/licenses/by/2.0/',
      portfolioUrl: '',
    },
  ]);
  expect(content.sections[0]?.steps[0]?.content.content.at(-1)?.props.html).toBe(
    '<p><small>Tides, Hypatia, 2015–2016, CC BY-SA 3.0 (<a href="https://creativecommons.org/licenses/by-sa/3.0/">https://creativecommons.org/licenses/by-sa/3.0/</a>)</small></p>' +
      '<p><small>CC BY-NC-ND (<a href="https://creativecommons.org/licenses/by-nc-nd/4.0/">https://creativecommons.org/licenses/by-nc-nd/4.0/</a>)</small></p>',
  );
  const warning = (license: string) => `its license, ${license}, forbids adaptations: do not change it`;
  expect(entries.map(({ kind, result, reason }) => [kind, result, reason])).toEqual([
    ['H5P.Column', 'converted', null],
    ['H5P.Image', 'kept', warning('CC BY-ND 4.0')],
    ['H5P.Image', 'converted', null],
    ['H5P.MultiChoice', 'kept', warning('CC BY-NC-ND')],
    ['file', 'kept', warning('CC BY-ND 4.0')],
    ['file', 'converted', null],
  ]);
});

test('names and keys that a file chooses are texts, and short in the report', async () => {
  const { entries, media } = await convertH5p({
    type: 'Column',
    files: ['images/a.png'],
    params: {
      content: [{ content: image('images/a.png', { license: 'constructor', title: 'Moon' }) }],
      ['k'.repeat(10_000)]: sub('Link', {}),
    },
  });
  expect(media[0]?.attributions[0]?.text).toBe('Moon, constructor');
  expect(Math.max(...entries.map(({ path }) => path.length))).toBe(500);
});

const nested = `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`;

test.each<[string, string | H5pFile, string]>([
  ['is cut off', { type: 'Column', params: '{"content": [' }, 'content/content.json: line 1, column 14: '],
  [
    'is nested too deep',
    { type: 'Column', params: nested },
    'content/content.json: line 1, column 1001: nested deeper than 200 levels',
  ],
  [
    'names no type',
    { type: '', params: {}, info: { mainLibrary: 7 } },
    'h5p.json: mainLibrary is missing, the type of the content',
  ],
  [
    'has an unknown type',
    { type: 'Crossword', params: {} },
    'tides.h5p: has nothing that Lectern can show: Lectern has no counterpart of H5P.Crossword',
  ],
  ['is empty', { type: 'Column', params: [] }, 'tides.h5p: has nothing that Lectern can show: it is empty'],
  [
    'has too many contents',
    { type: 'Column', params: { content: Array.from({ length: 20_000 }, () => text('x')) } },
    'tides.h5p: has 20001 elements; at most 20000 are allowed',
  ],
])('an H5P file that %s is refused with one sentence', async (_what, file, message) => {
  const failure = await messageOfFailure(convertH5p(file as H5pFile));
  expect(failure.startsWith(message), failure).toBe(true);
  expect(failure).not.toContain('\n');
});

test('an H5P file without content.json is refused', async () => {
  const path = await writeArchive(
    zipBytes([{ name: 'h5p.json', content: '{"mainLibrary":"H5P.Column"}' }]),
    'x.h5p',
  );
  expect(await messageOfFailure(convertPath(path))).toBe('content/content.json: is not in the package');
});

test('fields of the wrong type, paths out of the folder and scripts lose only themselves', async () => {
  const wrong = [7, 'text', null, [], [[]], [7], { a: [null] }, true];
  const types = [
    'MultiChoice',
    'TrueFalse',
    'SingleChoiceSet',
    'Summary',
    'Blanks',
    'DragText',
    'MarkTheWords',
    'Essay',
    'Dialogcards',
    'Accordion',
    'Column',
    'Row',
    'RowColumn',
    'InteractiveBook',
    'QuestionSet',
    'CoursePresentation',
    'InteractiveVideo',
    'Image',
    'Video',
    'Audio',
    'AdvancedText',
    'Table',
    'Link',
    'IFrameEmbed',
  ];
  const fields = [
    'question',
    'answers',
    'behaviour',
    'overallFeedback',
    'media',
    'choices',
    'summaries',
    'questions',
    'textField',
    'distractors',
    'keywords',
    'solution',
    'dialogs',
    'panels',
    'content',
    'columns',
    'chapters',
    'bookCover',
    'presentation',
    'interactiveVideo',
    'file',
    'files',
    'sources',
    'text',
    'linkWidget',
    'source',
    'endGame',
  ];
  const paths = [
    '../h5p.json',
    '/etc/passwd',
    '..\\x',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'images/gone.png#tmp',
    'content.json',
    'content.json/x.png',
  ];
  const file: H5pFile = {
    type: 'Column',
    params: {
      content: [
        text('Kept'),
        ...wrong.flatMap((value) =>
          types.map((type) => sub(type, Object.fromEntries(fields.map((field) => [field, value])))),
        ),
        ...wrong.flatMap((params) => types.map((type) => sub(type, params, wrong))),
        ...paths.map((path) => image(path)),
        sub('Link', { title: 'x', linkWidget: { protocol: 'other', url: 'javascript:alert(1)' } }),
        sub('IFrameEmbed', { source: 'data:text/html,x' }),
      ].map((content) => ({ content })),
    },
  };
  const { content, entries, media } = await convertH5p(file);
  expect(entries.map(({ kind }) => kind).sort()).toEqual(elementsOf(file));
  expect(
    entries.filter(({ reason }) => /is missing in the package|is not a picture/.test(reason ?? '')).length,
  ).toBe(paths.length);
  expect(media).toEqual([]);
  expect(JSON.stringify(content)).not.toMatch(/javascript:|data:text/);
});

test('a file that the archive has several times counts once', async () => {
  const file: H5pFile = { type: 'Column', params: { content: [{ content: image('images/a.png') }] } };
  const once = { ...file, files: ['images/a.png'] };
  const { media, entries } = await convertH5p({ ...file, files: ['images/a.png', 'images/a.png'] });
  expect(media).toHaveLength(1);
  expect(entries.map(({ kind }) => kind).sort()).toEqual(elementsOf(once));
});
