import { listOf, recordOf } from '../../../lessons/json-values.ts';
import type { ConvertedBlock } from '../../converted-lesson.ts';
import { choiceId, questionProps } from '../../questions/question-blocks.ts';
import { recordsOf } from '../contents.ts';
import type { ContentType, H5pContent } from '../contents.ts';
import { buttonProps, hasRangeFeedback, questionBlocks, rangeFeedback } from '../question.ts';
import type { WholeFeedback } from '../question.ts';
import { htmlOf, numberOf, plainOf } from '../texts.ts';

/* Questions with choices. */

const multiChoice: ContentType = {
  element: 'H5P.MultiChoice',
  result: 'converted',
  becomes: '`MultipleChoice`; `partial` if part of the right choices earns the only point, or none is right',
  convert(content) {
    const answers = recordsOf(content.params.answers).filter(({ text }) => htmlOf(text) !== '');
    if (answers.length === 0) return null;
    const right = answers.filter(isRight).length;
    const isSingle = isSingleAnswer(content, right);
    const isWhole = isSingle || !isFalse(content.setting('singlePoint'));
    const share = numberOf(content.setting('passPercentage')) ?? 100;
    content.lose('choosing nothing is right, which earns no point', right === 0);
    content.lose('learners must choose all right choices, where one was enough', isSingle && right > 1);
    content.lose(
      `the point needs all right choices, where ${share} % were enough`,
      isWhole && !isSingle && share < 100,
    );
    const points = isWhole ? 1 : right;
    const question = { prompt: htmlOf(content.params.question), feedback: feedbackOf(content, points) };
    return questionBlocks(content, 'MultipleChoice', {
      ...questionProps(question),
      choices: answers.map(choiceOf),
      correct: answers.flatMap((answer, index) => (isRight(answer) ? [choiceId(index)] : [])),
      ...(!isSingle && { multiple: true }),
      ...(!isWhole && { partialCredit: true }),
      ...(points > 1 && { points }),
      ...(isTrue(content.setting('randomAnswers')) && { shuffle: true }),
      ...buttonProps(content),
    });
  },
};

function isTrue(value: unknown): boolean {
  return value === true || value === 'true';
}

function isFalse(value: unknown): boolean {
  return value === false || value === 'false';
}

function isRight({ correct }: Record<string, unknown>): boolean {
  return isTrue(correct);
}

function isSingleAnswer(content: H5pContent, right: number): boolean {
  const type = content.setting('type');
  if (type === 'single' || type === 'multi') return type === 'single';
  // Until version 1.4, with "auto" as the default.
  const single = content.setting('singleAnswer');
  return type === undefined && single !== undefined ? isTrue(single) : right === 1;
}

/** @returns a choice; until version 1.3, tip and feedback were beside the text */
function choiceOf(answer: Record<string, unknown>, index: number): object {
  const { tip, chosenFeedback, notChosenFeedback } = { ...answer, ...recordOf(answer.tipsAndFeedback) };
  const texts = { feedback: chosenFeedback, notChosenFeedback, hint: tip };
  const shown = Object.entries(texts).filter(([, text]) => htmlOf(text) !== '');
  return {
    id: choiceId(index),
    html: htmlOf(answer.text),
    ...Object.fromEntries(shown.map(([name, text]) => [name, htmlOf(text)])),
  };
}

/** @returns the feedback for the whole answer; until version 1.10, it was among the labels */
function feedbackOf(content: H5pContent, points: number): WholeFeedback {
  const { correctText, almostText, wrongText, feedback } = recordOf(content.params.UI);
  const others = htmlOf(feedback);
  const old = {
    right: htmlOf(correctText) || others,
    partly: htmlOf(almostText) || others,
    wrong: htmlOf(wrongText) || others,
  };
  const isOld = content.params.overallFeedback === undefined;
  return isOld ? old : rangeFeedback(content, points);
}

const trueFalse: ContentType = {
  element: 'H5P.TrueFalse',
  result: 'converted',
  becomes: '`TrueFalse`',
  convert(content) {
    const { question, correct, l10n } = content.params;
    const labels = { trueLabel: recordOf(l10n).trueText, falseLabel: recordOf(l10n).falseText };
    // Lectern has the usual labels in the language of the lesson.
    const own = Object.entries(labels).filter(([, text]) => !['', 'True', 'False'].includes(plainOf(text)));
    const feedback = {
      right: htmlOf(content.setting('feedbackOnCorrect')),
      wrong: htmlOf(content.setting('feedbackOnWrong')),
    };
    return questionBlocks(content, 'TrueFalse', {
      ...questionProps({ prompt: htmlOf(question), feedback }),
      correct: correct === undefined || isTrue(correct),
      ...Object.fromEntries(own.map(([name, text]) => [name, plainOf(text)])),
      ...buttonProps(content),
    });
  },
};

/** Returns a question whose first choice is the right one; null if it has no choices. */
function firstIsRight(
  choices: unknown[],
  { prompt, hint, ...props }: { prompt: string; hint: string; [prop: string]: unknown },
): ConvertedBlock | null {
  const shown = choices.map(htmlOf).filter((html) => html !== '');
  if (shown.length === 0) return null;
  return {
    type: 'MultipleChoice',
    props: {
      ...questionProps({ prompt, hint }),
      choices: shown.map((html, index) => ({ id: choiceId(index), html })),
      ...{ correct: [choiceId(0)], shuffle: true, ...props },
    },
  };
}

/** Returns the blocks of several questions; null without any. */
function setOf(content: H5pContent, questions: (ConvertedBlock | null)[]): ConvertedBlock[] | null {
  const blocks = questions.filter((block) => block !== null);
  content.lose('questions without choices', blocks.length < questions.length && blocks.length > 0);
  content.lose('feedback for the whole set', blocks.length > 0 && hasRangeFeedback(content));
  return blocks.length === 0 ? null : blocks;
}

const singleChoiceSet: ContentType = {
  element: 'H5P.SingleChoiceSet',
  result: 'converted',
  becomes: 'a `MultipleChoice` for each question; `partial` with feedback for the whole set',
  convert(content) {
    const props = buttonProps(content);
    const questions = recordsOf(content.params.choices).map(({ question, answers }) =>
      firstIsRight(listOf(answers), { prompt: htmlOf(question), hint: '', ...props }),
    );
    return setOf(content, questions);
  },
};

const summary: ContentType = {
  element: 'H5P.Summary',
  result: 'converted',
  becomes:
    'a `MultipleChoice` with one attempt for each group of statements; `partial` with feedback for the whole',
  convert(content) {
    const { intro, summaries } = content.params;
    const groups = listOf(summaries)
      // Version 1.1 had lists of statements, without tips.
      .map((group) => (Array.isArray(group) ? { summary: group } : recordOf(group)))
      .filter((group) => listOf(group.summary).some((statement) => htmlOf(statement) !== ''));
    const questions = groups.map(({ summary: statements, tip }) =>
      firstIsRight(listOf(statements), { prompt: htmlOf(intro), hint: htmlOf(tip), attempts: 1 }),
    );
    return setOf(content, questions);
  },
};

export const choiceTypes = [multiChoice, trueFalse, singleChoiceSet, summary];
