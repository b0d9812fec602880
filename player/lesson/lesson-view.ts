import { element, uniqueId } from '../dom.ts';
import { askFinish } from './finish-dialog.ts';
import type { BeforeFinish } from './finish-dialog.ts';
import { endView } from './end-view.ts';
import type { EndActions } from './end-view.ts';
import type { LessonProgress } from './lesson-progress.ts';
import { currentStep } from './lesson-progress.ts';
import { outlinePanel } from './outline-panel.ts';
import { outlineView } from './outline-view.ts';
import { stepPosition, stepTitle } from './step-list.ts';
import { progressBar } from './progress-bar.ts';
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
}

/** The player on the page. */
export interface LessonView {
  /**
   * Shows the current step, or the end.
   *
   * @param next the text of the Next button
   * @param isChange false for the first time: the page keeps its focus and scroll position
   */
  show(progress: LessonProgress, isChange: boolean, next: string): void;
  /** Shows what an answer has changed around the step. @param isOpen whether the step has unanswered questions */
  mark(progress: LessonProgress, isOpen: boolean): void;
  /** Asks before the lesson is finished. */
  askFinish(before: BeforeFinish, finish: () => void): void;
  /** Removes the step; its widgets may report a last time. */
  leave(): void;
  /** Focuses the heading of the step and scrolls to it. */
  focus(): void;
  destroy(): void;
}

/** Fills the player's element: header, outline, steps, and the buttons between them. */
export function lessonView(
  root: HTMLElement,
  lesson: PlayedLesson,
  stepHost: StepHost,
  actions: LessonActions,
): LessonView {
  const { language } = stepHost;
  const outline = outlineView(lesson, language, (index) => {
    panel.close();
    actions.goToIndex(index);
  });
  const panel = outlinePanel(root, outline.nav, language);
  const progressView = progressBar(lesson, language);

  const skip = element('button', { class: 'lectern-skip', type: 'button' }, message(language, 'lesson.skip'));
  const status = element('p', { class: 'lectern-hidden-text', role: 'status' });
  const heading = element('h1', { class: 'lectern-step-title', id: uniqueId(), tabindex: '-1' });
  const section = element('p', { class: 'lectern-step-section' });
  const stage = element(
    'section',
    { class: 'lectern-step', 'aria-labelledby': heading.id },
    element('div', { class: 'lectern-step-head' }, section, heading),
  );
  const bar = stepBar(root, { title: lesson.title, language }, panel.button, progressView.bar);
  root.append(
    skip,
    bar.header,
    element(
      'div',
      { class: 'lectern-lesson-body' },
      panel.side,
      element('div', { class: 'lectern-stage' }, stage, bar.bar),
    ),
    panel.drawer,
    status,
  );

  let step: StepView | undefined;
  let end: HTMLElement | undefined;

  function focus(): void {
    heading.focus({ preventScroll: true });
    // scrollIntoView scrolls every container: the page, a part of it, pages around a frame.
    for (const target of [skip, heading]) target.scrollIntoView({ block: 'nearest', behavior: 'instant' });
  }

  /** Shows the blocks of the current step, as soon as they are loaded. */
  function showContent(current: PlayedStep): void {
    const content = lesson.contentOf(current);
    if (content !== undefined) {
      step = showStep(stage, current, content, stepHost);
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
        if (hasFocus) focus();
      },
    });
  }

  function flush(): void {
    step?.flush();
  }

  skip.addEventListener('click', focus);
  bar.back.addEventListener('click', () => actions.back());
  bar.next.addEventListener('click', () => actions.next());
  // A page that is closed can send nothing after these events.
  document.addEventListener('visibilitychange', flush);
  window.addEventListener('pagehide', flush);

  return {
    show(progress, isChange, next) {
      const { atEnd, index } = progress;
      const current = currentStep(lesson, progress);
      outline.show(progress);
      progressView.show(progress);
      bar.position.textContent = stepPosition(index, lesson, language);
      const above = atEnd ? '' : (lesson.sections[current.sectionIndex]?.title ?? '');
      const title = atEnd ? message(language, 'lesson.complete') : stepTitle(current, lesson, language);
      section.textContent = above;
      section.hidden = above === '' || above === title;
      heading.textContent = title;
      bar.back.hidden = index === 0;
      bar.setNext(atEnd ? undefined : next);
      if (atEnd) {
        end = endView(lesson, progress, language, actions);
        stage.append(end);
      } else {
        showContent(current);
      }
      if (!isChange) return;
      status.textContent = atEnd ? '' : bar.position.textContent;
      focus();
    },
    mark(progress, isOpen) {
      outline.show(progress);
      // The question comes first until it is answered.
      bar.next.classList.toggle('lectern-is-quiet', isOpen);
    },
    askFinish: (before, finish) =>
      askFinish(root, lesson, language, before, { finish, goToIndex: actions.goToIndex }),
    leave() {
      step?.flush();
      step?.destroy();
      end?.remove();
      step = end = undefined;
    },
    focus,
    destroy() {
      document.removeEventListener('visibilitychange', flush);
      window.removeEventListener('pagehide', flush);
      panel.destroy();
      bar.destroy();
      root.remove();
    },
  };
}
