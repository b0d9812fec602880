import type { PlayerLesson } from '../../api-types.ts';
import { stepBlocks, withoutTags } from '../../../shared/lessons/blocks.ts';
import { isCoreWidget, isOpenQuestion, scoringOf } from '../../../shared/lessons/core-widgets.ts';
import { recordOf } from '../../../shared/lessons/json-values.ts';
import { readMatching } from '../../../shared/lessons/scoring/matching.ts';
import { readQuestion } from '../../../shared/lessons/scoring/multiple-choice.ts';
import { readOrdering } from '../../../shared/lessons/scoring/ordering.ts';
import { t } from '../../shell/text.ts';

/** A question of a lesson, for people. */
export interface Question {
  /** The numbers of step and question, such as "2.1". */
  number: string;
  /** Its text without tags; the widget's type if it has none. */
  prompt: string;
  stepTitle: string;
  /** Returns an answer as text. */
  describe: (answer: unknown) => string;
  /** The right answer as text; null if there is none to show. */
  right: string | null;
}

export interface LessonOutline {
  steps: { id: string; number: number; title: string }[];
  /** By {@link questionKey}. */
  questions: ReadonlyMap<string, Question>;
}

export function questionKey(stepId: string, widgetId: string): string {
  return JSON.stringify([stepId, widgetId]);
}

/** Returns the steps of a lesson and its questions, in reading order. */
export function outlineOf({ sections }: PlayerLesson): LessonOutline {
  const steps = sections.flatMap((section) => section.steps);
  const questions = new Map<string, Question>();
  for (const [index, step] of steps.entries()) {
    let count = 0;
    for (const { block } of stepBlocks(step.content)) {
      const props = recordOf(recordOf(block).props);
      const { type } = block;
      if (typeof type !== 'string' || typeof props.id !== 'string' || !takesAnswers(type)) continue;
      count += 1;
      questions.set(questionKey(step.id, props.id), {
        number: `${index + 1}.${count}`,
        stepTitle: step.title,
        ...textsOf(type, props),
      });
    }
  }
  return { steps: steps.map(({ id, title }, index) => ({ id, number: index + 1, title })), questions };
}

function takesAnswers(type: string): boolean {
  return !isCoreWidget(type) || scoringOf(type) !== null || isOpenQuestion(type);
}

function textsOf(
  type: string,
  props: Record<string, unknown>,
): Pick<Question, 'prompt' | 'describe' | 'right'> {
  const describe = (answer: unknown) => describeAnswer(type, props, answer);
  const right = scoringOf(type)?.rightAnswer(props);
  return {
    prompt: plain(props.prompt ?? props.question) || plain(props.text) || type,
    describe,
    right: right === undefined ? null : describe(right),
  };
}

function describeAnswer(type: string, props: Record<string, unknown>, answer: unknown): string {
  if (type === 'MultipleChoice') return listed(answer, readQuestion(props).choices);
  if (type === 'Ordering') return listed(answer, readOrdering(props).items);
  if (type === 'Matching') {
    const { items, options } = readMatching(props);
    const targets = recordOf(answer);
    return items
      .filter(({ id }) => targets[id] !== undefined)
      .map(({ id, html }) => `${plain(html)} → ${listed([targets[id]], options)}`)
      .join('; ');
  }
  if (type === 'FillInTheBlanks') return Object.values(recordOf(answer)).map(printed).join('; ');
  if (typeof answer === 'boolean') return answer ? t('answer.true') : t('answer.false');
  return printed(answer);
}

/** Returns the texts of the parts that an answer names, each once: a hostile answer may name a part many times. */
function listed(answer: unknown, parts: readonly { id: string; html: string }[]): string {
  const texts = new Map<unknown, string>(parts.map(({ id, html }) => [id, plain(html) || id]));
  const named = Array.isArray(answer) ? [...new Set<unknown>(answer)] : [answer];
  return named.map((id) => texts.get(id) ?? printed(id)).join('; ');
}

const maxCharacters = 300;

function plain(html: unknown): string {
  if (typeof html !== 'string') return '';
  const text = withoutTags(html).replaceAll(/\s+/g, ' ').trim();
  return text.length > maxCharacters ? `${text.slice(0, maxCharacters)}…` : text;
}

function printed(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
