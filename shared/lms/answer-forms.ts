import { declaredPoints } from '../lessons/block-props.ts';
import { isCoreIn } from '../lessons/core-widgets.ts';
import type { CoreWidgetType, OwnTypes, ScoredWidgetType } from '../lessons/core-widgets.ts';
import { listOf } from '../lessons/json-values.ts';
import {
  answerIn,
  maxBlankCharacters,
  readBlanks,
  scoreBlanks,
} from '../lessons/scoring/fill-in-the-blanks.ts';
import { matchIn, readMatching, scoreMatching } from '../lessons/scoring/matching.ts';
import { readQuestion, scoreMultipleChoice } from '../lessons/scoring/multiple-choice.ts';
import { readNumeric, scoreNumeric } from '../lessons/scoring/numeric.ts';
import { orderIn, readOrdering, scoreOrdering } from '../lessons/scoring/ordering.ts';
import { readTrueFalse, scoreTrueFalse } from '../lessons/scoring/true-false.ts';
import type { CorrectResponse, InteractionType, Response } from './responses.ts';

/** How the answers to one question are kept in a platform, and reported to it. */
export interface AnswerForm {
  type: InteractionType;
  /** HTML. */
  prompt: string;
  /** The ids of the choices, if an answer is a list of some of them: it then takes a bit for each. */
  choices: readonly string[] | null;
  /** Whether an answer is written by the learner: such answers are lost first. */
  isFreeText: boolean;
  /** The maximum length of an answer as JSON; null if it has no limit. */
  maxJsonCharacters: number | null;
  /** The points of a right answer; null for a question that is not scored. */
  points: number | null;
  /** Whether an answer can earn a part of the points. */
  hasPartialPoints: boolean;
  /** Converts an answer; returns undefined for one that does not fit the question. */
  responseOf: (answer: unknown) => Response | undefined;
  correct: CorrectResponse | null;
}

type Props = Record<string, unknown>;

/** As in the widget; a character takes at most 6 in JSON. */
const openResponseCharacters = 6 * 20_000 + 2;

type FormOf = (props: Props) => AnswerForm;

/** The form of the answers to each question. All other core widgets have no answers. */
const questionForms: Record<ScoredWidgetType | 'OpenResponse', FormOf> = {
  MultipleChoice: multipleChoice,
  OpenResponse: openResponse,
  TrueFalse: trueFalse,
  FillInTheBlanks: fillInTheBlanks,
  Matching: matching,
  Ordering: ordering,
  Numeric: numeric,
};
const coreForms: Partial<Record<CoreWidgetType, FormOf>> = questionForms;

/** Returns the form of a widget's answers; null for a core widget without answers. */
export function answerFormOf(widgetType: string, props: Props, ownTypes: OwnTypes = []): AnswerForm | null {
  if (!isCoreIn(ownTypes, widgetType)) return customWidget(props);
  return coreForms[widgetType]?.(props) ?? null;
}

function multipleChoice(props: Props): AnswerForm {
  const { choices, correct, partialCredit } = readQuestion(props);
  const ids = choices.map(({ id }) => id);
  const positions = (picked: readonly string[]) => picked.map((id) => ids.indexOf(id)).sort((a, b) => a - b);
  return {
    type: 'choice',
    prompt: textOf(props.prompt ?? props.question),
    choices: ids,
    isFreeText: false,
    maxJsonCharacters: JSON.stringify(ids).length,
    points: scoreMultipleChoice(props, [])?.maxScore ?? null,
    hasPartialPoints: partialCredit,
    responseOf(answer) {
      const picked = listOf(answer).map(String);
      return picked.every((id) => ids.includes(id))
        ? { type: 'choice', picked: positions(picked) }
        : undefined;
    },
    correct: correct.length === 0 ? null : { type: 'choice', picked: positions(correct) },
  };
}

function openResponse(props: Props): AnswerForm {
  return {
    type: 'long-fill-in',
    prompt: textOf(props.prompt),
    choices: null,
    isFreeText: true,
    maxJsonCharacters: openResponseCharacters,
    points: null,
    hasPartialPoints: false,
    responseOf: (answer) => (typeof answer === 'string' ? { type: 'long-fill-in', text: answer } : undefined),
    correct: null,
  };
}

function trueFalse(props: Props): AnswerForm {
  const { correct } = readTrueFalse(props);
  return {
    ...wholeAnswer('true-false', props),
    maxJsonCharacters: 'false'.length,
    points: scoreTrueFalse(props, null)?.maxScore ?? null,
    responseOf: (answer) => (typeof answer === 'boolean' ? { type: 'true-false', value: answer } : undefined),
    correct: correct === undefined ? null : { type: 'true-false', value: correct },
  };
}

function numeric(props: Props): AnswerForm {
  const { correct, tolerance } = readNumeric(props);
  return {
    ...wholeAnswer('numeric', props),
    // As in -1.2345678901234567e-123.
    maxJsonCharacters: 25,
    points: scoreNumeric(props, null)?.maxScore ?? null,
    responseOf: (answer) => (typeof answer === 'number' ? { type: 'numeric', value: answer } : undefined),
    correct:
      correct === undefined ? null : { type: 'numeric', min: correct - tolerance, max: correct + tolerance },
  };
}

function fillInTheBlanks(props: Props): AnswerForm {
  const { blanks, partialCredit } = readBlanks(props);
  const idCharacters = blanks.reduce((sum, { id }) => sum + id.length, 0);
  return {
    ...wholeAnswer('fill-in', props),
    isFreeText: true,
    maxJsonCharacters: idCharacters + blanks.length * (6 * maxBlankCharacters + 6) + 2,
    points: scoreBlanks(props, null)?.maxScore ?? null,
    hasPartialPoints: partialCredit,
    responseOf: (answer) => ({ type: 'fill-in', parts: blanks.map(({ id }) => answerIn(answer, id)) }),
    correct:
      blanks.length === 0
        ? null
        : { type: 'fill-in', parts: blanks.map(({ answers: [answer = ''] }) => answer) },
  };
}

function matching(props: Props): AnswerForm {
  const { items, options, partialCredit } = readMatching(props);
  const targets = options.map(({ id }) => id);
  const pairsOf = (matchOf: (itemId: string) => string | undefined) =>
    items.flatMap(({ id }, source) => {
      const target = targets.indexOf(matchOf(id) ?? '');
      return target < 0 ? [] : [[source, target] as const];
    });
  const longest = Math.max(0, ...targets.map((id) => JSON.stringify(id).length));
  const itemCharacters = items.reduce((sum, { id }) => sum + JSON.stringify(id).length + longest + 2, 2);
  return {
    ...wholeAnswer('matching', props),
    maxJsonCharacters: itemCharacters,
    points: scoreMatching(props, null)?.maxScore ?? null,
    hasPartialPoints: partialCredit,
    responseOf: (answer) => ({ type: 'matching', pairs: pairsOf((id) => matchIn(items, answer, id)) }),
    correct:
      items.length === 0
        ? null
        : { type: 'matching', pairs: pairsOf((id) => items.find((item) => item.id === id)?.match) },
  };
}

function ordering(props: Props): AnswerForm {
  const { items, partialCredit } = readOrdering(props);
  const ids = items.map(({ id }) => id);
  return {
    ...wholeAnswer('sequencing', props),
    maxJsonCharacters: JSON.stringify(ids).length,
    points: scoreOrdering(props, null)?.maxScore ?? null,
    hasPartialPoints: partialCredit,
    responseOf(answer) {
      const order = orderIn(items, answer);
      return order && { type: 'sequencing', order: order.map((id) => ids.indexOf(id)) };
    },
    correct: ids.length === 0 ? null : { type: 'sequencing', order: [...ids.keys()] },
  };
}

/** Returns the fields that the forms of most questions share. */
function wholeAnswer<Type extends InteractionType>(type: Type, props: Props) {
  return { type, prompt: textOf(props.prompt), choices: null, isFreeText: false, hasPartialPoints: false };
}

function customWidget(props: Props): AnswerForm {
  return {
    type: 'other',
    prompt: textOf(props.prompt ?? props.question),
    choices: null,
    isFreeText: true,
    maxJsonCharacters: null,
    points: declaredPoints(props),
    hasPartialPoints: true,
    responseOf: (answer) => ({ type: 'other', text: JSON.stringify(answer) }),
    correct: null,
  };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
