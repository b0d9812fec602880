import { expect, test } from 'vitest';
import { messageOfFailure } from '../packages/package-folder.ts';
import { convertFile } from './convert.ts';

const question = (type: string, name: string, body: string) =>
  `<question type="${type}"><name><text>${name}</text></name>${body}</question>`;
const asked = (html: string, files = '') =>
  `<questiontext format="html"><text><![CDATA[${html}]]></text>${files}</questiontext>`;
const answer = (fraction: number, text: string, feedback = '', more = '') =>
  `<answer fraction="${fraction}" format="html"><text>${text}</text><feedback><text>${feedback}</text></feedback>${more}</answer>`;
const png = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex').toString('base64');

const bank = `<?xml version="1.0" encoding="UTF-8"?>
<!-- an export -->
<quiz>
<question type="category"><category><text>$course$/top/Tides/Moon</text></category></question>
${question('multichoice', 'Full moon', `${asked('<p>Which? <img src="@@PLUGINFILE@@/low%20tide.png" alt=""></p>', `<file name="low tide.png" path="/" encoding="base64">${png}</file>`)}<defaultgrade>2.0</defaultgrade><single>true</single><shuffleanswers>false</shuffleanswers>${answer(100, 'Spring', 'Yes')}${answer(0, 'Neap')}<correctfeedback><text>Well done</text></correctfeedback><hint format="html"><text>The Sun</text></hint>`)}
${question('multichoice', 'Forces', `${asked('Which?')}<single>false</single>${answer(50, 'Moon')}${answer(50, 'Sun')}${answer(-50, 'Mars')}`)}
${question('truefalse', 'Sun', `${asked('The Sun pulls.')}${answer(100, 'true', 'It does')}${answer(0, 'false', 'It does')}`)}
${question('shortanswer', 'Kind', `${asked('Which kind?')}<usecase>1</usecase>${answer(100, 'spring')}${answer(50, 'high')}`)}
${question('numerical', 'Hours', `${asked('How long?')}${answer(100, '12.4', '', '<tolerance>0.1</tolerance>')}<units><unit><multiplier>1</multiplier><unit_name>h</unit_name></unit></units>`)}
${question('matching', 'Pairs', `${asked('Match.')}<subquestion format="html"><text>New moon</text><answer><text>Spring</text></answer></subquestion><subquestion><text></text><answer><text>Storm</text></answer></subquestion>`)}
${question('essay', 'Why', `${asked('Why?')}<graderinfo format="html"><text>Two bulges</text></graderinfo>`)}
${question('description', 'Intro', asked('<p>Read this.</p>'))}
${question('ordering', 'Order', `${asked('In order.')}${answer(1, 'Moonrise')}${answer(2, 'High water')}`)}
${question('ddwtos', 'Words', `${asked('A [[2]] tide and a [[2]] tide.')}<dragbox><text>neap</text><group>1</group></dragbox><dragbox><text>spring</text><group>1</group></dragbox>`)}
${question('cloze', 'Text', asked('A {1:SHORTANSWER:=spring~%100%syzygy} tide after {2:NUMERICAL:=12:0.1} hours.'))}
${question('calculated', 'Sum', asked('What is {x}?'))}
</quiz>`;

test('each Moodle question becomes a block with its files, and is in the report once', async () => {
  const { content, entries, steps, media } = await convertFile('bank.xml', bank);
  expect(content.sections.map(({ title }) => title)).toEqual(['Moon']);
  expect(media).toMatchObject([{ mimeType: 'image/png', file: { size: 16 } }]);
  const src = `media:${media[0]?.id}`;
  expect([...(steps['Moon (1)'] ?? []), ...(steps['Moon (2)'] ?? [])]).toMatchObject([
    {
      type: 'MultipleChoice',
      props: {
        prompt: expect.stringContaining(`src="${src}"`) as string,
        ...{ points: 2, correct: ['a'], hint: 'The Sun', feedback: { right: 'Well done' } },
        choices: [{ html: 'Spring', feedback: 'Yes' }, { html: 'Neap' }],
      },
    },
    {
      type: 'MultipleChoice',
      props: { correct: ['a', 'b'], multiple: true, partialCredit: true, shuffle: true },
    },
    { type: 'TrueFalse', props: { correct: true } },
    {
      type: 'FillInTheBlanks',
      props: { prompt: 'Which kind?', caseSensitive: true, blanks: [{ answers: ['spring'] }] },
    },
    { type: 'Numeric', props: { correct: 12.4, tolerance: 0.1, unit: 'h' } },
    {
      type: 'Matching',
      props: { pairs: [{ left: 'New moon', right: 'Spring' }], distractors: [{ html: 'Storm' }] },
    },
    { type: 'OpenResponse', props: { prompt: 'Why?', sampleAnswer: 'Two bulges' } },
    { type: 'Text', props: { html: '<p>Read this.</p>' } },
    { type: 'Ordering', props: { items: [{ html: 'Moonrise' }, { html: 'High water' }] } },
    {
      type: 'FillInTheBlanks',
      props: {
        ...{ text: 'A [[g1]] tide and a [[g2]] tide.', wordBank: true, distractors: ['neap'] },
        blanks: [{ answers: ['spring'] }, { answers: ['spring'] }],
      },
    },
    {
      type: 'FillInTheBlanks',
      props: {
        text: 'A [[g1]] tide after [[g2]] hours.',
        points: 3,
        blanks: [{ answers: ['spring', 'syzygy'] }, { answers: ['12'] }],
      },
    },
  ]);
  // An independent count of the elements, in their order.
  const kinds = [...bank.matchAll(/<question type="(\w+)"/g)].map(([, kind]) => kind);
  expect(entries.map(({ kind }) => kind)).toEqual(kinds);
  expect(
    entries
      .filter(({ result }) => result !== 'converted')
      .map(({ title, result, reason }) => ({ title, result, reason })),
  ).toEqual([
    { title: 'Kind', result: 'partial', reason: 'answers no longer earn 50 %' },
    { title: 'Text', result: 'partial', reason: 'numbers are compared as texts, without a tolerance' },
    { title: 'Sum', result: 'dropped', reason: 'questions of the type calculated have no counterpart' },
  ]);
  expect(entries[1]?.path).toBe('bank.xml:5');
});

const bomb = `<!DOCTYPE quiz [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>`;

test.each([
  ['truncated', bank.slice(0, 700), /^bank\.xml:\d+: is not well-formed XML: /],
  [
    'with entities',
    bank.replace('<quiz>', `<quiz><question type="essay"><name><text>&xxe;</text></name></question>`),
    /^bank\.xml:3: is not well-formed XML: undefined entity/,
  ],
  ['nested too deep', `<quiz>${'<question>'.repeat(200)}`, /^bank\.xml: is nested deeper than 100 levels$/],
  [
    'with many elements',
    `<quiz>${'<a/>'.repeat(200_001)}</quiz>`,
    /^bank\.xml: has more than 200000 elements$/,
  ],
  [
    'with a document type',
    bank.replace('<!-- an export -->', bomb),
    /^bank\.xml: is neither a lesson package/,
  ],
])('an XML file %s ends with one sentence', async (_what, text, message) => {
  const failure = await messageOfFailure(convertFile('bank.xml', text));
  expect(failure).toMatch(message);
  expect(failure).not.toContain('\n');
});
