import { message } from '../../shared/i18n/message.ts';
import { finalShare, shownPoints } from '../../shared/progress/points.ts';
import { jsonCopy } from '../props.ts';
import { nextProgress, pointsOf, resumeProgress, savedState } from './lesson-progress.ts';
import type { LessonAction, LessonProgress } from './lesson-progress.ts';
import { LessonView } from './lesson-view.ts';
import type { LessonErrorCode, LessonEvent, LessonHandle, LessonOptions } from './options.ts';
import type { PlayedLesson, PlayedStep } from './read-lesson.ts';
import { hasTask, mistakeAfter, openQuestions, resultsOf } from './question-results.ts';
import type { Mistake } from './question-results.ts';
import { stepHostOf } from './step-answers.ts';
import type { PlaySetup, ReportedLesson } from './step-answers.ts';

/** The number of steps that are loaded ahead of the learner. */
const stepsAhead = 2;

/** A lesson that has steps, in play. Its events go to the callbacks in the options. */
export class LessonPlay implements ReportedLesson {
  readonly #options: LessonOptions;
  readonly #setup: PlaySetup;
  readonly #lesson: PlayedLesson;
  readonly #view: LessonView;
  #progress: LessonProgress;
  /** Widgets of the current step with an answer that is not submitted. It becomes an answer when the learner leaves the step. */
  readonly #drafts = new Set<string>();
  /** Whether the learner sees the cover. */
  #isCovered: boolean;
  /** The mistake that the learner looks at, while Next leads from one to the next. */
  #reviewed: Mistake | undefined;
  #isReady = false;
  /** While a step is removed, its widgets may still report, but the learner cannot navigate. */
  #isLeaving = false;
  #isDestroyed = false;
  /** Whether callbacks are still called. */
  #isAlive = true;

  constructor(root: HTMLElement, options: LessonOptions, setup: PlaySetup) {
    const { lesson, credits } = setup;
    this.#options = options;
    this.#setup = setup;
    this.#lesson = lesson;
    this.#progress = resumeProgress(lesson, options.state, options.startAt);
    this.#view = new LessonView(root, lesson, stepHostOf(options, setup, this), {
      ...options,
      credits,
      goToIndex: (index, widgetId) => {
        if (this.#goToIndex(index) && widgetId !== undefined) this.#view.focusQuestion(widgetId);
      },
      next: () => this.#nextOrAsk(),
      loaded: () => this.#mark(),
      back: () => this.back(),
      restart: () => this.#restart(),
      review: () => this.#review(),
      leave: options.onLeave,
    });
    const mayCover = options.cover !== false && options.startAt === undefined && !this.#progress.atEnd;
    this.#isCovered = mayCover && this.#showCover();
    if (!this.#isCovered) this.#show(false);
    if (options.startAt !== undefined && options.startAtBlock !== undefined)
      this.#view.markBlock(options.startAtBlock);
    queueMicrotask(() => {
      this.#isReady = true;
      this.notify(options.onReady, this.event());
      this.#notifyHeading();
    });
  }

  progress(): LessonProgress {
    return this.#progress;
  }

  act(action: LessonAction): void {
    this.#progress = nextProgress(this.#lesson, this.#progress, action);
  }

  setDraft(widgetId: string, isDraft: boolean): void {
    if (isDraft) this.#drafts.add(widgetId);
    else this.#drafts.delete(widgetId);
    this.#mark();
  }

  notify<Event>(callback: ((event: Event) => void) | undefined, event: Event): void {
    if (this.#isAlive) callSafely(callback, event);
  }

  event(): LessonEvent {
    const { id, steps } = this.#lesson;
    return {
      lessonId: id,
      versionId: this.#setup.versionId ?? null,
      ...savedState(this.#lesson, this.#progress),
      totalSteps: steps.length,
      ...shownPoints(pointsOf(this.#lesson, this.#progress)),
      at: new Date().toISOString(),
    };
  }

  report(
    code: LessonErrorCode,
    step: PlayedStep,
    block: { widgetId?: unknown; widgetType?: string },
    cause: unknown,
  ): void {
    if (!this.#isAlive) return;
    const widgetId = typeof block.widgetId === 'string' ? block.widgetId : undefined;
    const text = cause instanceof Error ? cause.message : String(cause);
    this.#setup.report({
      ...{ code, message: text, cause, stepId: step.id, widgetId, widgetType: block.widgetType },
    });
  }

  state(): ReturnType<LessonHandle['state']> {
    return this.#isReady ? savedState(this.#lesson, this.#progress) : undefined;
  }

  /** Goes to a step, or with null to the end of a lesson that the learner has completed before. */
  goTo(stepId: string | null): boolean {
    if (stepId !== null) return this.#goToIndex(this.#lesson.steps.findIndex(({ id }) => id === stepId));
    if (!this.#canNavigate() || !this.#progress.completed) return false;
    if (!this.#progress.atEnd) this.#changeStep({ kind: 'finish' });
    return true;
  }

  next(): boolean {
    if (this.#isCovered) return this.#start();
    if (!this.#canNavigate() || this.#progress.atEnd) return false;
    if (this.#goToIndex(this.#progress.index + 1)) return true;
    const isFirst = !this.#progress.completed;
    const finished = this.#changeStep({ kind: 'finish' });
    if (isFirst && finished) this.notify(this.#options.onComplete, finished);
    return true;
  }

  back(): boolean {
    const { atEnd, index } = this.#progress;
    return this.#goToIndex(atEnd ? index : index - 1);
  }

  /** Takes over what the learner has done elsewhere on other steps. The page stays as it is, with the focus. */
  update(change: (lesson: PlayedLesson, progress: LessonProgress) => LessonProgress): void {
    this.#progress = change(this.#lesson, this.#progress);
    if (!this.#isCovered) this.#mark();
  }

  destroy(): void {
    if (this.#isDestroyed) return;
    this.#isDestroyed = true;
    // Widgets report their last answers here; no callback is called afterward.
    this.#leave();
    this.#isAlive = false;
    this.#view.destroy();
  }

  /** Comes after the other callbacks: they may add the step's history entry, which then gets the page's new title. */
  #notifyHeading(): void {
    this.notify(this.#options.onHeading, this.#view.heading());
  }

  /** Shows the current step, and loads the following ones before the learner needs them. */
  #show(isChange: boolean): void {
    this.#view.show(this.#progress, isChange);
    this.#mark();
    this.#loadAhead();
  }

  /** Shows the cover; false if the lesson has none. Its first step is loaded meanwhile. */
  #showCover(): boolean {
    const { cover } = this.#lesson;
    if (cover === null) return false;
    const { visited, items, completed, index } = this.#progress;
    const isBegun = completed || index > 0 || visited.length > 1 || items.length > 0;
    this.#view.showCover(cover, message(this.#setup.language, isBegun ? 'lesson.continue' : 'lesson.start'));
    this.#lesson.load(index).catch(() => undefined);
    this.#loadAhead();
    return true;
  }

  /** Goes from the cover to the current step. */
  #start(): boolean {
    if (!this.#canNavigate()) return false;
    this.#isCovered = false;
    this.#view.leave();
    this.#show(true);
    this.#notifyHeading();
    return true;
  }

  #loadAhead(): void {
    for (let ahead = 1; ahead <= stepsAhead; ahead += 1) {
      // It is loaded again when the learner reaches it.
      this.#lesson.load(this.#progress.index + ahead).catch(() => undefined);
    }
  }

  #leave(): void {
    this.#isLeaving = true;
    this.#view.leave();
    this.#isLeaving = false;
  }

  /** @returns the event; undefined if a callback has destroyed the player */
  #changeStep(action: LessonAction): LessonEvent | undefined {
    this.#leave();
    if (this.#isDestroyed) return undefined;
    this.#isCovered = false;
    this.#drafts.clear();
    this.act(action);
    this.#show(true);
    const changed = this.event();
    this.notify(this.#options.onStepChange, jsonCopy(changed));
    this.#notifyHeading();
    return changed;
  }

  #canNavigate(): boolean {
    return this.#isReady && !this.#isLeaving && !this.#isDestroyed;
  }

  /** Returns false for an index without a step. */
  #goToIndex(index: number): boolean {
    if (!this.#canNavigate() || this.#lesson.steps[index] === undefined) return false;
    this.#reviewed = undefined;
    if (this.#isCovered && index === this.#progress.index) this.#start();
    else if (!this.#progress.atEnd && index === this.#progress.index) this.#view.focus();
    else this.#changeStep({ kind: 'go', index });
    return true;
  }

  #mark(): void {
    const progress = this.#progress;
    this.#view.mark(
      progress,
      this.#nextText(),
      !progress.atEnd && hasTask(this.#lesson, progress, this.#drafts),
    );
  }

  #isAtLastStep(): boolean {
    return this.#progress.index === this.#lesson.steps.length - 1;
  }

  /** Goes to the first mistake, or the next one after it, else to the results. */
  #review(): void {
    if (!this.#canNavigate()) return;
    const mistake = mistakeAfter(this.#lesson, this.#progress, this.#reviewed);
    const isSameStep = mistake !== undefined && mistake.step === this.#reviewed?.step;
    this.#reviewed = mistake;
    if (isSameStep) this.#mark();
    else {
      const action = mistake
        ? ({ kind: 'go', index: mistake.step.index } as const)
        : ({ kind: 'finish' } as const);
      if (!this.#changeStep(action)) return;
    }
    if (mistake) this.#view.focusQuestion(mistake.widgetId);
  }

  #nextText(): string {
    const { language } = this.#setup;
    if (this.#reviewed) {
      const mistake = mistakeAfter(this.#lesson, this.#progress, this.#reviewed);
      return message(language, mistake ? 'lesson.nextMistake' : 'lesson.backToResults');
    }
    return message(language, this.#isAtLastStep() ? 'lesson.finish' : 'lesson.next');
  }

  /** Does what the Next button does: before the first finish, it asks. */
  #nextOrAsk(): void {
    const progress = this.#progress;
    if (!this.#isCovered && this.#reviewed) return this.#review();
    if (this.#isCovered || !this.#isAtLastStep() || progress.completed) {
      this.next();
      return;
    }
    const open = openQuestions(resultsOf(this.#lesson, progress), progress.index, this.#drafts);
    const { sendsGrade = false } = this.#options;
    if (open.length === 0 && !sendsGrade) {
      this.next();
      return;
    }
    const grade = sendsGrade ? finalShare(pointsOf(this.#lesson, progress)) : null;
    this.#view.askFinish({ open, grade, variables: progress.variables }, () => void this.next());
  }

  #restart(): void {
    this.act({ kind: 'restart' });
    this.notify(this.#options.onRestart, this.event());
    this.#changeStep({ kind: 'go', index: 0 });
  }
}

/** Calls a callback. If it throws, the page's own error handling gets the error, and the lesson continues. */
export function callSafely<Event>(callback: ((event: Event) => void) | undefined, event: Event): void {
  try {
    callback?.(event);
  } catch (error) {
    reportError(error);
  }
}
