import type { Credits } from '../credits.ts';
import { message } from '../../shared/i18n/message.ts';
import { finalShare, shownPoints } from '../../shared/progress/points.ts';
import { jsonCopy, text } from '../props.ts';
import { sizeIn } from '../picture-space.ts';
import {
  answerItem,
  isWidgetClosed,
  nextProgress,
  pointsOf,
  resumeProgress,
  savedAnswer,
  savedState,
  triesOf,
  variableCopy,
} from './lesson-progress.ts';
import type { LessonAction } from './lesson-progress.ts';
import { lessonView } from './lesson-view.ts';
import type { LessonError, LessonEvent, LessonHandle, LessonOptions } from './options.ts';
import type { PlayedLesson, PlayedStep } from './read-lesson.ts';
import { hasTask, mistakeAfter, openQuestions, resultsOf } from './question-results.ts';
import type { Mistake } from './question-results.ts';
import type { StepHost } from './step-view.ts';
import type { WidgetLoader } from './widget-loader.ts';

/** The number of steps that are loaded ahead of the learner. */
const stepsAhead = 2;

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

/** Plays a lesson that has steps. Its events go to the callbacks in the options. */
export function playLesson(root: HTMLElement, options: LessonOptions, setup: PlaySetup): LessonHandle {
  const { lesson, language, report } = setup;
  let progress = resumeProgress(lesson, options.state, options.startAt);
  let isReady = false;
  let isAlive = true;
  /** While a step is removed, its widgets may still report, but the learner cannot navigate. */
  let isLeaving = false;
  let isDestroyed = false;
  /** Widgets of the current step with an answer that is not submitted. It becomes an answer when the learner leaves the step. */
  const drafts = new Set<string>();
  /** Whether the learner sees the cover. */
  let isCovered = options.cover !== false && options.startAt === undefined && !progress.atEnd;
  /** The mistake that the learner looks at, while Next leads from one to the next. */
  let reviewed: Mistake | undefined;

  function event(): LessonEvent {
    return {
      lessonId: lesson.id,
      versionId: setup.versionId ?? null,
      ...savedState(lesson, progress),
      totalSteps: lesson.steps.length,
      ...shownPoints(pointsOf(lesson, progress)),
      at: new Date().toISOString(),
    };
  }

  function notify<Event>(callback: ((event: Event) => void) | undefined, argument: Event): void {
    if (isAlive) callSafely(callback, argument);
  }

  /** Comes after the other callbacks: they may add the step's history entry, which then gets the page's new title. */
  function notifyHeading(): void {
    notify(options.onHeading, view.heading());
  }

  function act(action: LessonAction): void {
    progress = nextProgress(lesson, progress, action);
  }

  function setVariable(step: PlayedStep, widgetId: unknown, name: string, value: unknown): void {
    let copy: unknown;
    try {
      copy = variableCopy(progress, name, value);
    } catch (cause) {
      reportFor(step, { widgetId }, 'invalid_answer', cause);
      return;
    }
    act({ kind: 'set', name, value: copy });
    notify(options.onVariableChange, { ...event(), name, value: jsonCopy(copy) });
  }

  function reportFor(
    step: PlayedStep,
    block: { widgetId?: unknown; widgetType?: string },
    code: LessonError['code'],
    cause: unknown,
  ): void {
    if (!isAlive) return;
    const widgetId = typeof block.widgetId === 'string' ? block.widgetId : undefined;
    report({
      code,
      message: cause instanceof Error ? cause.message : String(cause),
      cause,
      stepId: step.id,
      widgetId,
      widgetType: block.widgetType,
    });
  }

  const stepHost: StepHost = {
    language,
    overrides: lesson.overrides,
    ownTypes: lesson.ownTypes,
    widgetTimeoutMs: options.widgetTimeout ?? 15_000,
    widgetFor: setup.widgetFor,
    resolveMedia: setup.resolveMedia,
    openVideo: options.openVideo,
    creditsFor: setup.credits.lineFor,
    sizeOf: (src) => sizeIn(lesson.pictureSizes, src),
    variables: () => progress.variables,
    saved(step, { props: { id: widgetId } }) {
      if (typeof widgetId !== 'string') return { state: undefined, tries: 0 };
      const answer = savedAnswer(progress, step.id, widgetId);
      return {
        state: answer === undefined ? undefined : jsonCopy(answer),
        tries: triesOf(progress, step.id, widgetId),
      };
    },
    answer(step, { type, props }, value, result, at) {
      // Learners may practice a closed question. Its answer and points stay.
      if (isWidgetClosed(lesson, progress, step.id, text(props.id))) return;
      let item;
      try {
        item = answerItem(lesson, { stepId: step.id, widgetId: text(props.id) }, value, result, new Date(at));
      } catch (cause) {
        reportFor(step, { widgetId: props.id, widgetType: type }, 'invalid_answer', cause);
        return;
      }
      act({ kind: 'answer', item });
      drafts.delete(item.widgetId);
      mark();
      const variable = text(props.variable);
      if (variable) setVariable(step, props.id, variable, item.answer);
      notify(options.onAnswer, { ...event(), item: jsonCopy(item) });
    },
    draft(step, { props }, value) {
      const widgetId = text(props.id);
      if (value === undefined) drafts.delete(widgetId);
      else drafts.add(widgetId);
      mark();
      if (options.onDraft === undefined) return false;
      const at = new Date().toISOString();
      if (widgetId) notify(options.onDraft, { stepId: step.id, widgetId, answer: value, at });
      return true;
    },
    setVariable(step, { props }, name, value) {
      if (Object.hasOwn(progress.variables, name)) setVariable(step, props.id, name, value);
    },
    report(code, step, block, cause) {
      reportFor(step, { widgetId: block?.props.id, widgetType: block?.type }, code, cause);
    },
  };

  const view = lessonView(root, lesson, stepHost, {
    credits: setup.credits,
    ...{ logo: options.logo, status: options.status },
    ...{ canPresent: options.canPresent, canPrintAnswers: options.canPrintAnswers },
    goToIndex(index, widgetId) {
      if (goToIndex(index) && widgetId !== undefined) view.focusQuestion(widgetId);
    },
    next: nextOrAsk,
    loaded: mark,
    back,
    restart,
    review,
    leave: options.onLeave,
  });

  /** Shows the current step, and loads the following ones before the learner needs them. */
  function show(isChange: boolean): void {
    view.show(progress, isChange);
    mark();
    loadAhead();
  }

  /** Shows the cover; false if the lesson has none. Its first step is loaded meanwhile. */
  function showCover(): boolean {
    if (lesson.cover === null) return false;
    const { visited, items, completed } = progress;
    const isBegun = completed || progress.index > 0 || visited.length > 1 || items.length > 0;
    view.showCover(lesson.cover, message(language, isBegun ? 'lesson.continue' : 'lesson.start'));
    lesson.load(progress.index).catch(() => undefined);
    loadAhead();
    return true;
  }

  /** Goes from the cover to the current step. */
  function start(): boolean {
    if (!canNavigate()) return false;
    isCovered = false;
    view.leave();
    show(true);
    notifyHeading();
    return true;
  }

  function loadAhead(): void {
    for (let ahead = 1; ahead <= stepsAhead; ahead += 1) {
      // It is loaded again when the learner reaches it.
      lesson.load(progress.index + ahead).catch(() => undefined);
    }
  }

  function leave(): void {
    isLeaving = true;
    view.leave();
    isLeaving = false;
  }

  /** @returns the event; undefined if a callback has destroyed the player */
  function changeStep(action: LessonAction): LessonEvent | undefined {
    leave();
    if (isDestroyed) return undefined;
    isCovered = false;
    drafts.clear();
    act(action);
    show(true);
    const changed = event();
    notify(options.onStepChange, jsonCopy(changed));
    notifyHeading();
    return changed;
  }

  function canNavigate(): boolean {
    return isReady && !isLeaving && !isDestroyed;
  }

  /** Returns false for an index without a step. */
  function goToIndex(index: number): boolean {
    if (!canNavigate() || lesson.steps[index] === undefined) return false;
    reviewed = undefined;
    if (isCovered && index === progress.index) start();
    else if (!progress.atEnd && index === progress.index) view.focus();
    else changeStep({ kind: 'go', index });
    return true;
  }

  function goTo(stepId: string | null): boolean {
    if (stepId === null) return goToEnd();
    return goToIndex(lesson.steps.findIndex(({ id }) => id === stepId));
  }

  function mark(): void {
    view.mark(progress, nextText(), !progress.atEnd && hasTask(lesson, progress, drafts));
  }

  function isAtLastStep(): boolean {
    return progress.index === lesson.steps.length - 1;
  }

  /** Goes to the first mistake, or the next one after it, else to the results. */
  function review(): void {
    if (!canNavigate()) return;
    const mistake = mistakeAfter(lesson, progress, reviewed);
    const isSameStep = mistake !== undefined && mistake.step === reviewed?.step;
    reviewed = mistake;
    if (isSameStep) mark();
    else if (!changeStep(mistake ? { kind: 'go', index: mistake.step.index } : { kind: 'finish' })) return;
    if (mistake) view.focusQuestion(mistake.widgetId);
  }

  function nextText(): string {
    if (reviewed) {
      const mistake = mistakeAfter(lesson, progress, reviewed);
      return message(language, mistake ? 'lesson.nextMistake' : 'lesson.backToResults');
    }
    return message(language, isAtLastStep() ? 'lesson.finish' : 'lesson.next');
  }

  /** Does what the Next button does: before the first finish, it asks. */
  function nextOrAsk(): void {
    if (!isCovered && reviewed) {
      review();
      return;
    }
    if (isCovered || !isAtLastStep() || progress.completed) {
      next();
      return;
    }
    const open = openQuestions(resultsOf(lesson, progress), progress.index, drafts);
    const { sendsGrade = false } = options;
    if (open.length === 0 && !sendsGrade) next();
    else {
      const grade = sendsGrade ? finalShare(pointsOf(lesson, progress)) : null;
      view.askFinish({ open, grade, variables: progress.variables }, next);
    }
  }

  /** Goes to the end of a lesson that the learner has completed before. */
  function goToEnd(): boolean {
    if (!canNavigate() || !progress.completed) return false;
    if (!progress.atEnd) changeStep({ kind: 'finish' });
    return true;
  }

  function next(): boolean {
    if (isCovered) return start();
    if (!canNavigate() || progress.atEnd) return false;
    if (goToIndex(progress.index + 1)) return true;
    const isFirst = !progress.completed;
    const finished = changeStep({ kind: 'finish' });
    if (isFirst && finished) notify(options.onComplete, finished);
    return true;
  }

  function back(): boolean {
    return goToIndex(progress.atEnd ? progress.index : progress.index - 1);
  }

  function restart(): void {
    act({ kind: 'restart' });
    notify(options.onRestart, event());
    changeStep({ kind: 'go', index: 0 });
  }

  isCovered &&= showCover();
  if (!isCovered) show(false);
  queueMicrotask(() => {
    isReady = true;
    notify(options.onReady, event());
    notifyHeading();
  });

  return {
    goTo,
    next,
    back,
    state: () => (isReady ? savedState(lesson, progress) : undefined),
    destroy() {
      if (isDestroyed) return;
      isDestroyed = true;
      // Widgets report their last answers here; no callback is called afterward.
      leave();
      isAlive = false;
      view.destroy();
    },
  };
}

/** Calls a callback. If it throws, the page's own error handling gets the error, and the lesson continues. */
export function callSafely<Event>(callback: ((event: Event) => void) | undefined, event: Event): void {
  try {
    callback?.(event);
  } catch (error) {
    reportError(error);
  }
}
