import { buildPackage } from '../support/factories.ts';

/* Lessons for packages, with every kind of question. */

/** Markup, an entity, right-to-left text, control characters and half of a surrogate pair: breaks unescaped XML. */
export const hostileTitle =
  `<b>"Fish" & 'chips'</b> ]]> &amp; </title><!DOCTYPE x [<!ENTITY a "b">]>&a;<?php x?><!-- --` +
  ' المد والجزر \u202e(2) a\u0001b\u000bc\ufffed a\ud800b';

const choice = (id: string) => ({ id, html: `<p>Choice ${id}</p>` });

export const questions = {
  single: {
    type: 'MultipleChoice',
    props: {
      ...{ id: 'choice-1', prompt: '<p>Which <em>one</em> & why?</p>', points: 2, variable: 'picked' },
      ...{ choices: ['tide', 'wave', 'wind'].map(choice), correct: ['tide'] },
    },
  },
  several: {
    type: 'MultipleChoice',
    props: {
      ...{ id: 'choice-2', prompt: '{lang=xx}Which ones?', points: 3, partialCredit: true },
      ...{ choices: ['a-1', 'a-2', 'a-3', 'a-4'].map(choice), correct: ['a-1', 'a-3'], multiple: true },
    },
  },
  open: { type: 'OpenResponse', props: { id: 'open 1', prompt: '<p>Explain.</p>', sampleAnswer: 'Moon' } },
};

const text = (id: string, html: string) => ({ type: 'Text', props: { id, html } });

const step = (title: string, position: number, content: unknown[]) => ({
  ...{ id: `5${position}000000-0000-4000-8000-000000000000`, title, order_index: position },
  content: { root: { props: {} }, content },
});

/** Two sections with four steps: three have questions. */
export const sections = [
  {
    ...{ id: '71000000-0000-4000-8000-000000000000', title: 'Tides & "waves"', order_index: 0 },
    steps: [step('Read', 1, [text('text-1', '<p>Read this.</p>')]), step('Choose', 2, [questions.single])],
  },
  {
    ...{ id: '72000000-0000-4000-8000-000000000000', title: 'المد والجزر', order_index: 1 },
    steps: [step('Choose more', 3, [questions.several]), step('Explain', 4, [questions.open])],
  },
];

/** Writes a package of the lesson above. */
export function buildQuiz(overrides: Parameters<typeof buildPackage>[0] = {}) {
  const variable_definitions = [{ name: 'picked', type: 'string', initialValue: null }];
  return buildPackage({ sections, lesson: { variable_definitions }, ...overrides });
}
