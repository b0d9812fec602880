import { declaredPoints } from '../lessons/block-props.ts';
import { isCoreWidget } from '../lessons/core-widgets.ts';
import type { CoreWidgetType } from '../lessons/core-widgets.ts';
import { listOf } from '../lessons/json-values.ts';
import { readQuestion, scoreMultipleChoice } from '../lessons/scoring/multiple-choice.ts';
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
  /** The most characters of an answer as JSON; null if nothing limits it. */
  maxJsonCharacters: number | null;
  /** What a right answer earns; null for a question that is not scored. */
  points: number | null;
  /** Whether an answer can earn a part of the points. */
  hasPartialPoints: boolean;
  /** Undefined for an answer that the question does not know. */
  responseOf: (answer: unknown) => Response | undefined;
  correct: CorrectResponse | null;
}

type Props = Record<string, unknown>;

/** As in the widget; a character takes at most 6 in JSON. */
const openResponseCharacters = 6 * 20_000 + 2;

const noAnswers = null;

/** The core widgets, with what learning platforms get of their answers. */
const coreForms: Record<CoreWidgetType, ((props: Props) => AnswerForm) | null> = {
  Heading: noAnswers,
  Text: noAnswers,
  Image: noAnswers,
  Video: noAnswers,
  Audio: noAnswers,
  Callout: noAnswers,
  Columns: noAnswers,
  MultipleChoice: multipleChoice,
  OpenResponse: openResponse,
};

/** Returns the form of a widget's answers; null for a core widget without answers. */
export function answerFormOf(widgetType: string, props: Props): AnswerForm | null {
  if (!isCoreWidget(widgetType)) return customWidget(props);
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
