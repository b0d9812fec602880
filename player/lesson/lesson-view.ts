import type { Credits } from '../credits.ts';
import { element, onPress, uniqueId } from '../dom.ts';
import { askFinish } from './finish-dialog.ts';
import type { BeforeFinish } from './finish-dialog.ts';
import type { LessonCover } from '../../shared/lessons/cover.ts';
import { coverView } from './cover-view.ts';
import { endView } from './end-view.ts';
import type { EndActions } from './end-view.ts';
import type { LessonProgress } from './lesson-progress.ts';
import { currentStep } from './lesson-progress.ts';
import { outlinePanel } from './outline-panel.ts';
import { outlineView } from './outline-view.ts';
import { stepPosition, stepTitle } from './step-list.ts';
import { presentation } from './presentation.ts';
import { openWhilePrinting, printMenu } from './print.ts';
import { progressBar } from './progress-bar.ts';
import type { LessonOptions } from './options.ts';
import type { PlayedLesson, PlayedStep } from './read-lesson.ts';
import { activeElement } from './focus.ts';
import { stepBar } from './step-bar.ts';
import { showLoading } from './step-loading.ts';
import { showStep } from './step-view.ts';
import type { StepHost, StepView } from './step-view.ts';
import { message } from '../../shared/i18n/message.ts';

/** The actions of the player's buttons. */
export interface LessonActions extends EndActions {
  next(this: void): void;
  /** Called when a step that was not loaded yet is on the page. */
  loaded(this: void): void;
}

/** The parts of the player around the lesson. */
type Surroundings = LessonActions &
  Pick<LessonOptions, 'logo' | 'status' | 'canPresent' | 'canPrintAnswers'> & { credits: Credits };

/** The player on the page. */
export interface LessonView {
  /**
   * Shows the current step, or the end. The caller then calls `mark`.
   *
   * @param isChange false for the first time: the page keeps its focus and scroll position
   */
  show(progress: LessonProgress, isChange: boolean): void;
  /** Shows the page before the current step. @param start the text of the button that goes to the step */
  showCover(cover: LessonCover, start: string): void;
  /**
   * Shows what the learner has done, in the outline and around the step.
   *
   * @param next the text of the Next button
   * @param hasTask whether the step has a question to answer or to retry
   */
  mark(progress: LessonProgress, next: string, hasTask: boolean): void;
  /** Asks before the lesson is finished. */
  askFinish(before: BeforeFinish, finish: () => void): void;
  /** Returns the current heading: of a step, the cover or the end. */
  heading(this: void): string;
  /** Removes the step; its widgets may report a last time. */
  leave(): void;
  /** Focuses a question of the step and scrolls to it, as soon as the step is loaded. */
  focusQuestion(widgetId: string): void;
  /** Focuses the heading of the step and scrolls to it. */
  focus(): void;
  destroy(): void;
}

/** Fills the player's element: header, outline, steps, and the buttons between them. */
export function lessonView(
  root: HTMLElement,
  lesson: PlayedLesson,
  stepHost: StepHost,
  {
    logo,
    status: statusMark,
    canPresent = false,
    canPrintAnswers = false,
    credits,
    ...actions
  }: Surroundings,
): LessonView {
  const { language } = stepHost;
  const outline = outlineView(lesson, language, (index) => {
    panel.close();
    actions.goToIndex(index);
  });
  // Here and at the end: learners may not come to the end.
  outline.nav.append(...credits.list(language));
  const print = printMenu({ root, lesson, stepHost, credits, canPrintAnswers });
  const panel = outlinePanel(root, outline.nav, print, language);
  const progressView = progressBar(lesson, language);

  const skip = element('button', { class: 'lectern-skip', type: 'button' }, message(language, 'lesson.skip'));
  const status = element('p', { class: 'lectern-hidden-text', role: 'status' });
  const heading = element('h1', { class: 'lectern-step-title', id: uniqueId(), tabindex: '-1' });
  const section = element('p', { class: 'lectern-step-section' });
  const stage = element(
    'section',
    { class: 'lectern-step' },
    element('div', { class: 'lectern-step-head' }, section, heading),
  );
  const bar = stepBar(
    root,
    { title: lesson.title, logo, status: statusMark, language },
    panel.button,
    progressView.bar,
  );
  root.append(
    skip,
    bar.header,
    element(
      'div',
      { class: 'lectern-lesson-body' },
      panel.side,
      element('div', { class: 'lectern-stage' }, bar.tools, stage, bar.bar),
    ),
    panel.drawer,
    status,
  );

  /** The index of the step that is shown; undefined on other pages. */
  let shownIndex: number | undefined;
  const presented = canPresent
    ? presentation(root, language, {
        next: () => (cover ? actions.next() : actions.goToIndex((shownIndex ?? lesson.steps.length) + 1)),
        back: actions.back,
        focus,
      })
    : undefined;
  if (presented) bar.header.append(presented.button);

  let step: StepView | undefined;
  let end: HTMLElement | undefined;
  let cover: HTMLElement | undefined;
  /** The question to focus when its step is loaded. */
  let awaited: string | undefined;

  function focus(): void {
    heading.focus({ preventScroll: true });
    // scrollIntoView scrolls every container: the page, a part of it, pages around a frame.
    for (const target of [skip, heading]) target.scrollIntoView({ block: 'nearest', behavior: 'instant' });
  }

  function focusQuestion(widgetId: string): void {
    const slot = step?.slotOf(widgetId);
    awaited = slot === undefined ? widgetId : undefined;
    if (slot === undefined) return;
    // Focusable only now, so that a press beside a control does not focus the question.
    slot.tabIndex = -1;
    slot.addEventListener('blur', () => slot.removeAttribute('tabindex'), { once: true });
    slot.focus({ preventScroll: true });
    slot.scrollIntoView({ block: 'start', behavior: 'instant' });
  }

  /** Shows the blocks of the current step, as soon as they are loaded. */
  function showContent(current: PlayedStep): void {
    const content = lesson.contentOf(current);
    if (content !== undefined) {
      step = showStep(stage, current, content, stepHost);
      if (awaited !== undefined) focusQuestion(awaited);
      return;
    }
    step = showLoading(stage, {
      language,
      load: () => lesson.load(current.index),
      onFailed: (cause) => stepHost.report('step_not_loaded', current, null, cause),
      onLoaded() {
        const hasFocus = stage.contains(activeElement(stage));
        step?.destroy();
        showContent(current);
        actions.loaded();
        if (hasFocus && !stage.querySelector('.lectern-slot:focus')) focus();
      },
    });
  }

  function flush(): void {
    step?.flush();
  }

  skip.addEventListener('click', focus);
  onPress(bar.back, actions.back);
  onPress(bar.next, actions.next);
  // A page that is closed can send nothing after these events.
  document.addEventListener('visibilitychange', flush);
  window.addEventListener('pagehide', flush);
  const stopOpening = openWhilePrinting(root);

  return {
    showCover(shown, start) {
      root.classList.add('lectern-is-covered');
      heading.textContent = lesson.title;
      section.hidden = bar.back.hidden = true;
      bar.setNext(start);
      cover = coverView(shown, lesson.steps.length, stepHost);
      cover.append(...credits.lineFor(shown.image));
      stage.append(cover);
    },
    show(progress, isChange) {
      // The cover needs no label, because its heading is the name of the whole player.
      stage.setAttribute('aria-labelledby', heading.id);
      const { atEnd, index } = progress;
      shownIndex = atEnd ? undefined : index;
      const current = currentStep(lesson, progress);
      progressView.show(progress);
      const position = atEnd ? '' : stepPosition(index, lesson, language);
      bar.setPosition(position);
      const above = atEnd ? '' : (lesson.sections[current.sectionIndex]?.title ?? '');
      const isOtherSection = above !== section.textContent;
      const title = atEnd ? message(language, 'lesson.complete') : stepTitle(current, lesson, language);
      section.textContent = above;
      section.hidden = above === '' || above === title;
      heading.textContent = title;
      bar.back.hidden = index === 0;
      if (atEnd) {
        end = endView(lesson, progress, language, actions);
        end.append(...credits.list(language));
        stage.append(end);
      } else {
        showContent(current);
      }
      if (!isChange) return;
      const announced = isOtherSection && !section.hidden ? [above, position] : [position];
      status.textContent = announced.join(message(language, 'widget.sentenceBreak'));
      focus();
    },
    mark(progress, next, hasTask) {
      outline.show(progress);
      bar.setNext(progress.atEnd ? undefined : next);
      // One button stands out: the question's while it is unanswered or can be retried, otherwise Next.
      bar.next.classList.toggle('lectern-is-quiet', hasTask);
    },
    askFinish: (before, finish) =>
      askFinish(root, lesson, language, before, { finish, goToIndex: actions.goToIndex }),
    heading: () => heading.textContent,
    leave() {
      awaited = undefined;
      step?.flush();
      step?.destroy();
      end?.remove();
      cover?.remove();
      root.classList.remove('lectern-is-covered');
      step = end = cover = undefined;
    },
    focus,
    focusQuestion,
    destroy() {
      document.removeEventListener('visibilitychange', flush);
      window.removeEventListener('pagehide', flush);
      presented?.destroy();
      stopOpening();
      panel.destroy();
      bar.destroy();
      progressView.destroy();
      root.remove();
    },
  };
}
