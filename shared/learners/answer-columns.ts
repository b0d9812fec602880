import { isCoreWidget, isOpenQuestion, scoringOf } from '../lessons/core-widgets.ts';
import { recordOf } from '../lessons/json-values.ts';
import type { LessonContent } from '../lessons/lesson-content.ts';
import { partIdOf } from '../lessons/scoring/scoring.ts';
import { parseContent } from '../models/gzip-parts.ts';
import type { LessonVersion } from '../models/lesson-version.ts';
import { runTask } from '../platform/tasks.ts';
import type { TaskWait } from '../platform/tasks.ts';
import { outlineOf, widgetKey } from '../progress/outline.ts';
import { groupsOf } from '../platform/groups.ts';
import { interactionKey, versionTextOf } from '../xapi/interactions.ts';
import type { Interaction, InteractionPart } from '../xapi/interactions.ts';

/** A column of a table of answers. */
export interface AnswerColumn {
  /** See {@link widgetKey}. */
  key: string;
  /** Begins with the numbers of step and question, and ends with the ids of step and block. */
  title: string;
  /** For {@link answerText}. */
  interaction: Interaction | undefined;
}

const columnsPerPart = 250;

/** The task that returns the columns of a stored content. */
export async function* answerColumnsTask(parts: Buffer[]): AsyncGenerator<AnswerColumn[]> {
  yield* groupsOf(answerColumnsOf(await parseContent(parts)), columnsPerPart);
}

/**
 * Returns a column for each block of a version that learners can answer, in reading order.
 *
 * @param parts of the content of the version
 */
export async function readAnswerColumns(
  parts: Buffer[],
  { _id: versionId, organizationId }: Pick<LessonVersion, '_id' | 'organizationId'>,
  wait: TaskWait = {},
): Promise<AnswerColumn[]> {
  const run = { what: `Reading the version ${versionId}`, organizationId, ...wait };
  return (await runTask<AnswerColumn[]>('answerColumns', parts, run)).flat();
}

function answerColumnsOf(content: LessonContent): AnswerColumn[] {
  const { interactions } = versionTextOf(content);
  const steps = outlineOf(content).sections.flatMap((section) => section.steps);
  return steps.flatMap(({ id: stepId, widgets }, step) =>
    widgets
      .filter(({ widgetType }) => takesAnswers(widgetType))
      .map(({ widgetId }, question) => {
        const interaction = interactions.get(interactionKey(stepId, widgetId));
        const title = `${step + 1}.${question + 1} ${interaction?.prompt ?? ''}`.trimEnd();
        return {
          key: widgetKey(stepId, widgetId),
          title: `${title} (${stepId}/${widgetId})`,
          interaction,
        };
      }),
  );
}

/** Returns whether learners can answer a widget. Any custom widget may report answers. */
function takesAnswers(widgetType: string): boolean {
  return !isCoreWidget(widgetType) || scoringOf(widgetType) !== null || isOpenQuestion(widgetType);
}

/**
 * Returns an answer as text for people, with the texts of choices instead of their ids. A hostile answer may name a choice
 * many thousand times: each of a question's parts gets its text once.
 */
export function answerText(interaction: Interaction | undefined, answer: unknown): string {
  const { choices, source, target } = interaction?.parts ?? {};
  if (choices !== undefined && Array.isArray(answer)) {
    const texts = textsOf(choices);
    return [...new Set<unknown>(answer)].map((id) => texts.get(partIdOf(id) ?? '') ?? printed(id)).join('; ');
  }
  if (source !== undefined && target !== undefined) {
    const [left, right] = [textsOf(source), textsOf(target)];
    return Object.entries(recordOf(answer))
      .map(([from, to]) => {
        const match = left.has(from) ? right.get(partIdOf(to) ?? '') : undefined;
        return `${left.get(from) ?? from} → ${match ?? printed(to)}`;
      })
      .join('; ');
  }
  if (interaction?.type === 'fill-in') return Object.values(recordOf(answer)).map(printed).join('; ');
  return printed(answer);
}

/** Returns the texts of parts by their ids; for a part without a text, its id. */
function textsOf(parts: readonly InteractionPart[]): Map<string, string> {
  return new Map(parts.map(({ id, text }) => [id, text === '' ? id : text]));
}

function printed(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
