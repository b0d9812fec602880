import { test } from 'vitest';
import { expectConversion } from './h5p-file.ts';
import type { H5pCase } from './h5p-file.ts';

/* The types of questions, and their older versions. */

const tides = {
  question: '<p>Which tide comes at full moon?</p>\n',
  answers: [
    { text: 'Spring tide', correct: true, tipsAndFeedback: { tip: 'A jump', chosenFeedback: 'Yes.' } },
    { text: 'Neap tide', correct: false, tipsAndFeedback: { notChosenFeedback: 'At half moon.' } },
  ],
  behaviour: { type: 'auto', singlePoint: true, randomAnswers: true },
};

test.each<H5pCase>([
  [
    'MultiChoice with one right choice',
    { type: 'MultiChoice', params: tides },
    [
      {
        type: 'MultipleChoice',
        props: {
          prompt: '<p>Which tide comes at full moon?</p>',
          choices: [
            { id: 'a', html: 'Spring tide', feedback: 'Yes.', hint: 'A jump' },
            { id: 'b', html: 'Neap tide', notChosenFeedback: 'At half moon.' },
          ],
          ...{ correct: ['a'], shuffle: true },
        },
      },
    ],
  ],
  [
    'MultiChoice of version 1.0, with settings and a picture at the top',
    {
      type: 'MultiChoice',
      files: ['images/a.png'],
      params: {
        question: 'Who pulls?',
        answers: [
          { text: 'Moon', correct: true, tip: 'Near', chosenFeedback: 'Yes' },
          { text: 'Sun', correct: true },
          { text: 'Mars', correct: false },
        ],
        ...{ singleAnswer: false, singlePoint: false, tryAgain: false, image: { path: 'images/a.png' } },
        UI: { correctText: 'All.', almostText: 'Some.', wrongText: 'None.' },
      },
    },
    [
      { type: 'Image', props: { alt: '' } },
      {
        type: 'MultipleChoice',
        props: {
          choices: [{ hint: 'Near', feedback: 'Yes' }, {}, {}],
          ...{ correct: ['a', 'b'], multiple: true, partialCredit: true, points: 2, attempts: 1 },
          feedback: { right: 'All.', partly: 'Some.', wrong: 'None.' },
        },
      },
    ],
  ],
  [
    'MultiChoice whose point needs half of the right choices',
    {
      type: 'MultiChoice',
      params: {
        question: 'Who pulls?',
        answers: ['Moon', 'Sun'].map((name) => ({ text: name, correct: true })),
        behaviour: { singlePoint: true, passPercentage: 50 },
      },
    },
    [{ type: 'MultipleChoice', props: { correct: ['a', 'b'], multiple: true } }],
    'the point needs all right choices, where 50 % were enough',
  ],
  [
    'MultiChoice with radio buttons and two right choices',
    {
      type: 'MultiChoice',
      params: {
        ...tides,
        answers: ['A', 'B'].map((name) => ({ text: name, correct: true })),
        behaviour: { type: 'single' },
      },
    },
    [{ props: { correct: ['a', 'b'] } }],
    'learners must choose all right choices, where one was enough',
  ],
  [
    'TrueFalse with its own labels',
    {
      type: 'TrueFalse',
      params: {
        ...{
          question: '<p>The Sun pulls, too.</p>',
          correct: 'false',
          l10n: { trueText: 'Yes', falseText: 'False' },
        },
        behaviour: { feedbackOnCorrect: 'Right!', enableSolutionsButton: false },
      },
    },
    [
      {
        type: 'TrueFalse',
        props: { correct: false, trueLabel: 'Yes', feedback: { right: 'Right!' }, showAnswers: false },
      },
    ],
  ],
  [
    'SingleChoiceSet, whose first answer is right',
    {
      type: 'SingleChoiceSet',
      params: {
        choices: [
          { question: 'Full moon?', answers: ['Spring', 'Neap'] },
          { question: 'Half moon?', answers: ['Neap', 'Spring'] },
        ],
        overallFeedback: [{ from: 0, to: 100, feedback: 'You got :numcorrect of :maxscore correct' }],
      },
    },
    ['Full moon?', 'Half moon?'].map((prompt) => ({
      type: 'MultipleChoice',
      props: { prompt, correct: ['a'], shuffle: true },
    })),
  ],
  [
    'Summary of version 1.0, a list of lists',
    {
      type: 'Summary',
      params: {
        intro: 'Choose.',
        summaries: [
          ['Right', 'Wrong'],
          ['Yes', 'No'],
        ],
        overallFeedback: [{ from: 0, to: 100, feedback: 'Done!' }],
      },
    },
    [
      { props: { prompt: 'Choose.', choices: [{ html: 'Right' }, { html: 'Wrong' }], attempts: 1 } },
      { props: { choices: [{ html: 'Yes' }, { html: 'No' }] } },
    ],
    'feedback for the whole set',
  ],
  [
    'Blanks with alternatives, a tip, entities, markup, and stars that are none',
    {
      type: 'Blanks',
      params: {
        text: '<p>Complete it.</p>',
        questions: [
          '<p>A *<em>spring</em>/syzygy:At full moon: always* tide, 2 ** 3, [[x]]</p>',
          'One * alone',
          '*R&amp;D*',
        ],
        behaviour: { caseSensitive: false, acceptSpellingErrors: true },
        overallFeedback: [
          { from: 0, to: 0, feedback: 'You got @score of @total. Try again!' },
          { from: 1, to: 99, feedback: 'Nearly.' },
          { from: 100, to: 100, feedback: 'Great!' },
        ],
      },
    },
    [
      {
        type: 'FillInTheBlanks',
        props: {
          text: '<div><p>A [[1]] tide, 2 ** 3, [&#91;x]]</p></div><div>One * alone</div><div>[[2]]</div>',
          blanks: [
            { id: '1', answers: ['spring', 'syzygy'], hint: 'At full moon: always' },
            { id: '2', answers: ['R&D'] },
          ],
          ...{ allowTypos: true, feedback: { right: 'Great!', partly: 'Nearly.', wrong: 'Try again!' } },
        },
      },
    ],
  ],
  [
    'DragText with tips, feedback and other words',
    {
      type: 'DragText',
      params: {
        ...{ taskDescription: 'Drag.', textField: 'At *full:round* moon,\na *spring\\+Yes.\\-No.* tide.' },
        distractors: '*storm* *neap*\n*storm*',
      },
    },
    [
      {
        type: 'FillInTheBlanks',
        props: {
          text: 'At [[1]] moon,<br>a [[2]] tide.',
          blanks: [
            { id: '1', answers: ['full'], hint: 'round' },
            { id: '2', answers: ['spring'], feedback: { right: 'Yes.', wrong: 'No.' } },
          ],
          ...{ wordBank: true, caseSensitive: true, distractors: ['storm', 'neap'] },
        },
      },
    ],
  ],
  [
    'MarkTheWords',
    {
      type: 'MarkTheWords',
      params: { taskDescription: 'Mark.', textField: '<p>The *Moon* &amp; the "*Sun*", 2**2.</p>' },
    },
    [
      {
        type: 'MultipleChoice',
        props: {
          prompt: 'Mark.\n<p>The Moon &amp; the "Sun", 2*2.</p>',
          choices: ['The', 'Moon', '&amp;', 'the', 'Sun', '2*2'].map((html) => ({ html })),
          ...{ correct: ['b', 'e'], multiple: true, partialCredit: true, points: 2 },
        },
      },
    ],
    'learners choose the words in a list below the text',
  ],
  [
    'Essay with keywords',
    {
      type: 'Essay',
      params: {
        taskDescription: 'Explain the second bulge.',
        keywords: [{ keyword: '*inert*', options: { points: 1 } }, { keyword: 'Moon &lt; Earth' }],
      },
    },
    [{ type: 'OpenResponse', props: { sampleAnswer: '<ul><li>inert</li><li>Moon &lt; Earth</li></ul>' } }],
    'answers earn no points for keywords',
  ],
])('H5P: %s', async (_what, file, blocks, loss = null) => {
  await expectConversion(file, blocks, loss);
});
