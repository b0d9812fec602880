import { jsonCopy, text } from '../props.ts';
import {
  answerItem,
  nextProgress,
  pointsOf,
  resumeProgress,
  savedAnswer,
  savedState,
  triesOf,
} from './lesson-progress.ts';
import type { LessonAction } from './lesson-progress.ts';
import { lessonView } from './lesson-view.ts';
import type { LessonError, LessonEvent, LessonHandle, LessonOptions } from './options.ts';
import type { PlayedLesson, PlayedStep } from './read-lesson.ts';
import type { StepRoom } from './step-view.ts';
import type { WidgetLoader } from './widget-loader.ts';

/** What a lesson is played with, beside what the integrator asked for. */
export interface Played {
  lesson: PlayedLesson;
  versionId: string | undefined;
  language: string;
  resolveMedia(this: void, src: string): string;
  widgetFor: WidgetLoader;
  /** Tells the integrator; a callback that throws harms nothing. */
  report(this: void, error: LessonError): void;
}

/** Puts a lesson that has steps on the page and plays it. Its events go to the callbacks in the options. */
export function playLesson(root: HTMLElement, options: LessonOptions, played: Played): LessonHandle {
  const { lesson, language, report } = played;
  let progress = resumeProgress(lesson, options.state, options.startAt);
  let isReady = false;
  let isAlive = true;
  /** While a step is taken off the page its widgets may still report, but nothing else may be shown. */
  let isLeaving = false;
  let isGoing = false;

  function event(): LessonEvent {
    return {
      lessonId: lesson.id,
      versionId: played.versionId ?? null,
      ...savedState(lesson, progress),
      totalSteps: lesson.steps.length,
      ...pointsOf(lesson, progress),
      at: new Date().toISOString(),
    };
  }

  function tell<Event>(callback: ((event: Event) => void) | undefined, told: Event): void {
    if (!isAlive) return;
    callSafely(callback, told);
  }

  function act(action: LessonAction): void {
    progress = nextProgress(lesson, progress, action);
  }

  function setVariable(step: PlayedStep, widgetId: unknown, name: string, value: unknown): void {
    let copy: unknown;
    try {
      copy = jsonCopy(value);
    } catch (cause) {
      reportFor(step, { widgetId }, 'invalid_answer', cause);
      return;
    }
    act({ kind: 'set', name, value: copy });
    tell(options.onVariableChange, { ...event(), name, value: jsonCopy(copy) });
  }

  function reportFor(
    step: PlayedStep,
    block: { widgetId?: unknown; widgetType?: string },
    code: LessonError['code'],
    cause: unknown,
  ): void {
    if (!isAlive) return;
    const message = cause instanceof Error ? cause.message : String(cause);
    const widgetId = typeof block.widgetId === 'string' ? block.widgetId : undefined;
    report({ code, message, cause, stepId: step.id, widgetId, widgetType: block.widgetType });
  }

  const room: StepRoom = {
    language,
    overrides: lesson.overrides,
    widgetTimeout: options.widgetTimeout ?? 15_000,
    widgetFor: played.widgetFor,
    resolveMedia: played.resolveMedia,
    variables: () => progress.variables,
    saved(step, widgetId) {
      if (typeof widgetId !== 'string') return { state: undefined, tries: 0 };
      const answer = savedAnswer(progress, step.id, widgetId);
      return {
        state: answer === undefined ? undefined : jsonCopy(answer),
        tries: triesOf(progress, step.id, widgetId),
      };
    },
    answer(step, { type, props }, value, result, at) {
      let item;
      try {
        item = answerItem(lesson, { stepId: step.id, widgetId: text(props.id) }, value, result, new Date(at));
      } catch (cause) {
        reportFor(step, { widgetId: props.id, widgetType: type }, 'invalid_answer', cause);
        return;
      }
      act({ kind: 'answer', item });
      const variable = text(props.variable);
      if (variable) setVariable(step, props.id, variable, item.answer);
      tell(options.onAnswer, { ...event(), item: jsonCopy(item) });
    },
    draft(step, { props }, value) {
      if (options.onDraft === undefined) return false;
      const widgetId = text(props.id);
      if (widgetId)
        tell(options.onDraft, { stepId: step.id, widgetId, answer: value, at: new Date().toISOString() });
      return true;
    },
    setVariable(step, { props }, name, value) {
      if (Object.hasOwn(progress.variables, name)) setVariable(step, props.id, name, value);
    },
    report(code, step, { type, props }, cause) {
      reportFor(step, { widgetId: props.id, widgetType: type }, code, cause);
    },
  };

  const view = lessonView(root, lesson, room, { goToIndex, next, back, restart });

  function leave(): void {
    isLeaving = true;
    view.leave();
    isLeaving = false;
  }

  /** @returns what was told; undefined when the player was destroyed meanwhile */
  function changeStep(action: LessonAction): LessonEvent | undefined {
    leave();
    if (isGoing) return undefined;
    act(action);
    view.show(progress, true);
    const told = event();
    tell(options.onStepChange, jsonCopy(told));
    return told;
  }

  function canGo(): boolean {
    return isReady && !isLeaving && !isGoing;
  }

  /** False for an index that no step has. */
  function goToIndex(index: number): boolean {
    if (!canGo() || lesson.steps[index] === undefined) return false;
    if (!progress.atEnd && index === progress.index) view.focus();
    else changeStep({ kind: 'go', index });
    return true;
  }

  function goTo(stepId: string): boolean {
    return goToIndex(lesson.steps.findIndex(({ id }) => id === stepId));
  }

  function next(): boolean {
    if (!canGo() || progress.atEnd) return false;
    if (goToIndex(progress.index + 1)) return true;
    const isFirst = !progress.completed;
    const told = changeStep({ kind: 'finish' });
    if (isFirst && told) tell(options.onComplete, told);
    return true;
  }

  function back(): boolean {
    return goToIndex(progress.atEnd ? progress.index : progress.index - 1);
  }

  function restart(): void {
    act({ kind: 'restart' });
    tell(options.onRestart, event());
    changeStep({ kind: 'go', index: 0 });
  }

  view.show(progress, false);
  queueMicrotask(() => {
    isReady = true;
    tell(options.onReady, event());
  });

  return {
    goTo,
    next,
    back,
    state: () => (isReady ? savedState(lesson, progress) : undefined),
    destroy() {
      if (isGoing) return;
      isGoing = true;
      // What widgets held back is still reported; nothing is afterwards.
      leave();
      isAlive = false;
      view.destroy();
    },
  };
}

/** Calls back, and hands what the callback throws to the page's own error handling: the lesson goes on. */
export function callSafely<Event>(callback: ((event: Event) => void) | undefined, event: Event): void {
  try {
    callback?.(event);
  } catch (error) {
    reportError(error);
  }
}
