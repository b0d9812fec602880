import type { Credits } from '../credits.ts';
import { text, jsonCopy } from '../props.ts';
import { sizeIn } from '../picture-space.ts';
import { answerItem, isWidgetClosed, savedAnswer, triesOf, variableCopy } from './lesson-progress.ts';
import type { LessonAction, LessonProgress } from './lesson-progress.ts';
import type { LessonError, LessonErrorCode, LessonEvent, LessonOptions } from './options.ts';
import type { PlayedLesson, PlayedStep } from './read-lesson.ts';
import type { StepHost } from './step-view.ts';
import type { WidgetLoader } from './widget-loader.ts';

/** The lesson to play and its surroundings, beside the integrator's options. */
export interface PlaySetup {
  lesson: PlayedLesson;
  versionId: string | undefined;
  language: string;
  resolveMedia(this: void, src: string): string;
  widgetFor: WidgetLoader;
  credits: Credits;
  /** Calls `onError`; errors that it throws are ignored. */
  report(this: void, error: LessonError): void;
}

/** The lesson in play, as far as what its widgets report changes it. */
export interface ReportedLesson {
  progress(): LessonProgress;
  act(action: LessonAction): void;
  /** Notes whether a widget of the step has an answer that is not submitted. */
  setDraft(widgetId: string, isDraft: boolean): void;
  /** Calls a callback of the options with a copy of an event. */
  notify<Event>(callback: ((event: Event) => void) | undefined, event: Event): void;
  event(): LessonEvent;
  report(
    code: LessonErrorCode,
    step: PlayedStep,
    block: { widgetId?: unknown; widgetType?: string },
    cause: unknown,
  ): void;
}

/** Returns what steps need of the lesson: it shows saved answers to widgets, and takes what they report. */
export function stepHostOf(options: LessonOptions, setup: PlaySetup, played: ReportedLesson): StepHost {
  const { lesson, language } = setup;

  function setVariable(step: PlayedStep, widgetId: unknown, name: string, value: unknown): void {
    let copy: unknown;
    try {
      copy = variableCopy(played.progress(), name, value);
    } catch (cause) {
      played.report('invalid_answer', step, { widgetId }, cause);
      return;
    }
    played.act({ kind: 'set', name, value: copy });
    played.notify(options.onVariableChange, { ...played.event(), name, value: jsonCopy(copy) });
  }

  return {
    ...{ language, overrides: lesson.overrides, ownTypes: lesson.ownTypes },
    widgetTimeoutMs: options.widgetTimeout ?? 15_000,
    widgetFor: setup.widgetFor,
    resolveMedia: setup.resolveMedia,
    openVideo: options.openVideo,
    creditsFor: setup.credits.lineFor,
    sizeOf: (src) => sizeIn(lesson.pictureSizes, src),
    variables: () => played.progress().variables,
    saved(step, { props: { id: widgetId } }) {
      if (typeof widgetId !== 'string') return { state: undefined, tries: 0 };
      const answer = savedAnswer(played.progress(), step.id, widgetId);
      return {
        state: answer === undefined ? undefined : jsonCopy(answer),
        tries: triesOf(played.progress(), step.id, widgetId),
      };
    },
    answer(step, { type, props }, value, result, at) {
      // Learners may practice a closed question. Its answer and points stay.
      if (isWidgetClosed(lesson, played.progress(), step.id, text(props.id))) return;
      let item;
      try {
        item = answerItem(lesson, { stepId: step.id, widgetId: text(props.id) }, value, result, new Date(at));
      } catch (cause) {
        played.report('invalid_answer', step, { widgetId: props.id, widgetType: type }, cause);
        return;
      }
      played.act({ kind: 'answer', item });
      played.setDraft(item.widgetId, false);
      const variable = text(props.variable);
      if (variable) setVariable(step, props.id, variable, item.answer);
      played.notify(options.onAnswer, { ...played.event(), item: jsonCopy(item) });
    },
    draft(step, { props }, value) {
      const widgetId = text(props.id);
      played.setDraft(widgetId, value !== undefined);
      if (options.onDraft === undefined) return false;
      const at = new Date().toISOString();
      if (widgetId) played.notify(options.onDraft, { stepId: step.id, widgetId, answer: value, at });
      return true;
    },
    setVariable(step, { props }, name, value) {
      if (Object.hasOwn(played.progress().variables, name)) setVariable(step, props.id, name, value);
    },
    report(code, step, block, cause) {
      played.report(
        code,
        step,
        { widgetId: block?.props.id, ...(block && { widgetType: block.type }) },
        cause,
      );
    },
  };
}
