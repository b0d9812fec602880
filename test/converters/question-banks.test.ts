import { expect, test } from 'vitest';
import { writeGift } from '../../shared/converters/gift/write-gift.ts';
import { lessonBlocks } from '../../shared/lessons/blocks.ts';
import type { LessonContent } from '../../shared/lessons/lesson-content.ts';
import { messageOfFailure } from '../packages/package-folder.ts';
import { convertFile } from './convert.ts';

/* GIFT and Aiken. */

const gift = `// A comment
$CATEGORY: $course$/top/Tides/The Moon

::Spring:: Which tide comes at full moon? {=Spring tide #Yes, in one line. ~Neap tide #At half moon. ####Think of the Sun.}

Two of them pull: {~%50%The Moon ~%50%The Sun ~%-50%Mars}

[html]<b>The Sun</b> has no influence on tides.{FALSE#It has.#Right!}

$CATEGORY: Tides/Numbers
At full moon, expect a {=spring =%100%syzygy} tide \\{sic\\}.
// Between two questions

How many hours lie between two high waters? {#12.4:0.1#About 12 hours and 25 minutes}

A range {#1..2}

Match. {
  =New moon -> Spring tide
  =Half moon -> Neap tide

  = -> Storm tide
}

[markdown]Explain the *second* bulge. {}

Tides move water; 2 < 3 \\= true.
`;

test('each kind of GIFT question becomes a block, and is in the report once', async () => {
  const { content, entries, steps } = await convertFile('tides.txt', gift);
  expect(content.lesson).toMatchObject({ title: 'tides', slug: 'tides' });
  expect(content.sections.map(({ title }) => title)).toEqual(['The Moon', 'Numbers']);
  expect(steps['The Moon']).toMatchObject([
    {
      type: 'MultipleChoice',
      props: {
        prompt: 'Which tide comes at full moon?',
        choices: [
          { id: 'a', html: 'Spring tide', feedback: 'Yes, in one line.' },
          { id: 'b', html: 'Neap tide', feedback: 'At half moon.' },
        ],
        ...{ correct: ['a'], shuffle: true, explanation: 'Think of the Sun.' },
      },
    },
    {
      type: 'MultipleChoice',
      props: { correct: ['a', 'b'], multiple: true, partialCredit: true },
    },
    {
      type: 'TrueFalse',
      props: {
        prompt: '<b>The Sun</b> has no influence on tides.',
        ...{ correct: false, feedback: { wrong: 'It has.', right: 'Right!' } },
      },
    },
  ]);
  expect(steps.Numbers).toMatchObject([
    {
      type: 'FillInTheBlanks',
      props: {
        text: 'At full moon, expect a [[1]] tide {sic}.',
        blanks: [{ id: '1', answers: ['spring', 'syzygy'] }],
      },
    },
    {
      type: 'Numeric',
      props: { correct: 12.4, tolerance: 0.1, feedback: { right: 'About 12 hours and 25 minutes' } },
    },
    { type: 'Numeric', props: { correct: 1.5, tolerance: 0.5 } },
    {
      type: 'Matching',
      props: {
        pairs: [
          { left: 'New moon', right: 'Spring tide' },
          { left: 'Half moon', right: 'Neap tide' },
        ],
        distractors: [{ html: 'Storm tide' }],
      },
    },
    { type: 'OpenResponse', props: { prompt: 'Explain the <em>second</em> bulge.' } },
    { type: 'Text', props: { html: 'Tides move water; 2 &lt; 3 = true.' } },
  ]);
  expect(entries.map(({ path, kind, result }) => `${path} ${kind} ${result}`)).toEqual([
    'tides.txt:2 category converted',
    'tides.txt:4 multichoice converted',
    'tides.txt:6 multichoice converted',
    'tides.txt:8 truefalse converted',
    'tides.txt:10 category converted',
    'tides.txt:11 shortanswer converted',
    'tides.txt:14 numerical converted',
    'tides.txt:16 numerical converted',
    'tides.txt:18 matching converted',
    'tides.txt:25 essay converted',
    'tides.txt:27 description converted',
  ]);
  const step = content.sections[1]?.steps[0];
  expect(entries.at(-1)).toMatchObject({
    title: 'Tides move water; 2 < 3 = true.',
    ...{ stepId: step?.id, blockId: step?.content.content.at(-1)?.props.id },
  });
});

test.each([
  ['a share of the points', 'Q {=a ~%50%b ~c}', 'multichoice partial: choices no longer earn 50 %'],
  [
    'several right choices',
    'Q {=a =b ~c}',
    'multichoice partial: learners must choose all right choices, where one was enough',
  ],
  [
    'uneven shares',
    'Q {~%70%a ~%30%b ~c}',
    'multichoice partial: each right choice earns 50 %; each wrong choice costs 50 %',
  ],
  ['no right choice', 'Q {~a ~b}', 'multichoice dropped: no choice earns all points'],
  ['an answer for half of the points', 'Q {=a =%50%b}', 'shortanswer partial: answers no longer earn 50 %'],
  ['a wildcard', 'Q {=a =b*}', 'shortanswer partial: answers with * for any text are left out'],
  ['two right numbers', 'Q {#=1:0 =2:0}', 'numerical partial: only the first right number counts'],
  ['no number', 'Q {#=one}', 'numerical dropped: "one" is not a number; no number earns all points'],
])('GIFT with %s names what is lost', async (_what, text, expected) => {
  const { entries } = await convertFile('q.txt', `${text}\n\nWhole {T}\n`);
  expect(entries.map(({ kind, result, reason }) => `${kind} ${result}: ${reason}`)[0]).toBe(expected);
  expect(entries).toHaveLength(2);
});

const aiken = `Which tide comes at full moon?
A. Spring tide
B) Neap tide,
at half moon
ANSWER: A

2 < 3?
A. Yes
B. No & never
answer: b
`;

test('Aiken becomes multiple choice, in steps of a given size', async () => {
  const { entries, steps } = await convertFile('two_questions.txt', aiken, { questionsPerStep: 1 });
  expect(steps).toMatchObject({
    'two questions (1)': [
      {
        type: 'MultipleChoice',
        props: {
          prompt: 'Which tide comes at full moon?',
          choices: [
            { id: 'a', html: 'Spring tide' },
            { id: 'b', html: 'Neap tide, at half moon' },
          ],
          correct: ['a'],
        },
      },
    ],
    'two questions (2)': [{ props: { prompt: '2 &lt; 3?', correct: ['b'] } }],
  });
  expect(entries.map(({ path, result }) => `${path} ${result}`)).toEqual([
    'two_questions.txt:1 converted',
    'two_questions.txt:7 converted',
  ]);
});

test('faults of a question bank come all at once, with their lines', async () => {
  const faulty = `${aiken}\nThird?\nA. x\nB. y\nANSWER: C\n\nFourth?\nA. x\n`;
  expect(await messageOfFailure(convertFile('q.txt', faulty))).toBe(
    'q.txt:12: ANSWER is C, and the choices are A, B\nq.txt:17: has no line such as "ANSWER: A" after it',
  );
  expect(await messageOfFailure(convertFile('q.txt', '::a:: Q {=x\n\n::b:: Q}\n'))).toBe(
    ['q.txt:1', 'q.txt:3']
      .map((line) => `${line}: has a brace without its partner; write \\{ and \\} for braces in a text`)
      .join('\n'),
  );
});

test.each([
  ['UTF-8 with a byte order mark', Buffer.from('\ufeffWo ist Käse? {=hier ~dort}')],
  ['UTF-16', Buffer.from('\ufeffWo ist Käse? {=hier ~dort}', 'utf16le')],
  ['Windows-1252', Buffer.from('Wo ist Käse? {=hier ~dort}', 'latin1')],
  ['line ends of Windows', Buffer.from('Wo ist Käse?\r\n{=hier\r\n~dort}\r\n')],
])('a question bank in %s is read', async (_encoding, bytes) => {
  const { content } = await convertFile('q.txt', bytes);
  expect(content.sections[0]?.steps[0]?.content.content[0]?.props.prompt).toBe('Wo ist Käse?');
});

test('questions that are written in GIFT and read again are the same questions', async () => {
  const { content } = await convertFile('tides.txt', gift);
  const written = writeGift(content);
  expect(written.losses).toEqual([]);
  const again = await convertFile('tides.txt', written.text);
  const questions = (read: LessonContent) =>
    [...lessonBlocks(read)]
      .filter(({ block }) => block.type !== 'Text')
      .map(({ section, block }) => ({
        section: section.title,
        type: block.type,
        props: { ...block.props, id: '' },
      }));
  expect(questions(again.content)).toEqual(questions(content));
});
