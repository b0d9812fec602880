import { playedProps } from '../lessons/block-props.ts';
import { stepBlocks, typeOf } from '../lessons/blocks.ts';
import type { OwnTypes } from '../lessons/core-widgets.ts';
import { recordOf } from '../lessons/json-values.ts';
import type { LessonContent } from '../lessons/lesson-content.ts';
import { orderedSections } from '../lessons/totals.ts';
import { outlineOf, widgetKey } from '../progress/outline.ts';
import type { LessonOutline } from '../progress/outline.ts';
import { answerFormOf } from './answer-forms.ts';
import type { AnswerForm } from './answer-forms.ts';

/** A block that learners can answer. */
export interface Question {
  stepId: string;
  widgetId: string;
  widgetType: string;
  sectionIndex: number;
  /** The name of a variable that gets the answer; '' for none. */
  variable: string;
  form: AnswerForm;
}

/** The positions that packages for learning platforms use instead of ids. */
export interface LessonMap {
  sections: { id: string; title: string }[];
  /** In playing order. */
  steps: { id: string; sectionIndex: number; stepIndex: number }[];
  /** In reading order. */
  questions: Question[];
  /** The widgets that count toward the points. */
  outline: LessonOutline;
  /** The position of each question by {@link widgetKey}. */
  positions: ReadonlyMap<string, number>;
  /** The values that variables begin with. */
  variables: Record<string, unknown>;
  /** A 32-bit hash that differs between versions with different positions. */
  fingerprint: number;
}

/** Returns the map of a version's content. Equal content gives an equal map in the worker and in the player. */
export function lessonMapOf(content: LessonContent, ownTypes: OwnTypes = []): LessonMap {
  const ordered = orderedSections(content);
  const { overrides } = content.lesson.widget_settings;
  const steps: LessonMap['steps'] = [];
  const questions: Question[] = [];
  for (const [sectionIndex, section] of ordered.entries()) {
    for (const [stepIndex, step] of section.steps.entries()) {
      steps.push({ id: step.id, sectionIndex, stepIndex });
      for (const { block } of stepBlocks(step.content)) {
        const widgetType = typeOf(block);
        const widgetId: unknown = recordOf(recordOf(block).props).id;
        if (widgetType === undefined || typeof widgetId !== 'string') continue;
        const props = playedProps(block, overrides);
        const form = answerFormOf(widgetType, props, ownTypes);
        const variable = typeof props.variable === 'string' ? props.variable : '';
        if (form !== null)
          questions.push({ stepId: step.id, widgetId, widgetType, sectionIndex, variable, form });
      }
    }
  }
  const definitions = content.lesson.variable_definitions;
  return {
    sections: ordered.map(({ id, title }) => ({ id, title })),
    steps,
    questions,
    outline: outlineOf(content, ownTypes),
    positions: new Map(
      questions.map(({ stepId, widgetId }, position) => [widgetKey(stepId, widgetId), position]),
    ),
    variables: Object.fromEntries(definitions.map(({ name, initialValue = null }) => [name, initialValue])),
    fingerprint: fingerprintOf([
      ...steps.map(({ id }) => id),
      ...questions.map(({ stepId, widgetId, widgetType, form }) =>
        [stepId, widgetId, widgetType, ...(form.choices ?? [])].join('\n'),
      ),
    ]),
  };
}

/** Returns the 32-bit FNV-1a hash of texts. */
export function fingerprintOf(texts: readonly string[]): number {
  let hash = 0x811c9dc5;
  for (const text of texts) {
    for (const character of `${text}\0`) {
      hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193);
    }
  }
  return hash >>> 0;
}
