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
import { activeElement, focusBlock } from './focus.ts';
import { stepBar } from './step-bar.ts';
import type { StepBar } from './step-bar.ts';
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

/** The player on the page: header, outline, steps, and the buttons between them. */
export class LessonView {
  readonly #root: HTMLElement;
  readonly #lesson: PlayedLesson;
  readonly #stepHost: StepHost;
  readonly #actions: LessonActions;
  readonly #credits: Credits;
  readonly #outline: ReturnType<typeof outlineView>;
  readonly #panel: ReturnType<typeof outlinePanel>;
  readonly #progressBar: ReturnType<typeof progressBar>;
  readonly #bar: StepBar;
  readonly #presented: ReturnType<typeof presentation> | undefined;
  /** What the removal of the player ends. */
  readonly #ends: (() => void)[];
  readonly #skip: HTMLElement;
  /** Announces the position to screen readers. */
  readonly #status = element('p', { class: 'lectern-hidden-text', role: 'status' });
  readonly #heading = element('h1', { class: 'lectern-step-title', id: uniqueId(), tabindex: '-1' });
  readonly #section = element('p', { class: 'lectern-step-section' });
  readonly #stage = element(
    'section',
    { class: 'lectern-step' },
    element('div', { class: 'lectern-step-head' }, this.#section, this.#heading),
  );
  /** What the stage shows: a step, or one of the pages before and after the steps. */
  #step: StepView | undefined;
  #end: HTMLElement | undefined;
  #cover: HTMLElement | undefined;
  /** The index of the step that is shown; undefined on other pages. */
  #shownIndex: number | undefined;
  /** The question to focus when its step is loaded. */
  #awaited: string | undefined;
  #stopMarking: (() => void) | undefined;

  /** Fills the player's element. */
  constructor(root: HTMLElement, lesson: PlayedLesson, stepHost: StepHost, surroundings: Surroundings) {
    const { logo, status, canPresent = false, canPrintAnswers = false, credits, ...actions } = surroundings;
    const { language } = stepHost;
    this.#root = root;
    this.#lesson = lesson;
    this.#stepHost = stepHost;
    this.#actions = actions;
    this.#credits = credits;
    this.#outline = outlineView(lesson, language, (index) => {
      this.#panel.close();
      actions.goToIndex(index);
    });
    // Here and at the end: learners may not come to the end.
    this.#outline.nav.append(...credits.list(language));
    const print = printMenu({ root, lesson, stepHost, credits, canPrintAnswers });
    this.#panel = outlinePanel(root, this.#outline.nav, print, language);
    this.#progressBar = progressBar(lesson, language);
    this.#bar = stepBar(
      root,
      { title: lesson.title, logo, status, language },
      this.#panel.button,
      this.#progressBar.bar,
    );
    const skipText = message(language, 'lesson.skip');
    this.#skip = element('button', { class: 'lectern-skip', type: 'button' }, skipText);
    this.#presented = canPresent ? this.#presentation() : undefined;
    this.#append();
    this.#skip.addEventListener('click', () => this.focus());
    onPress(this.#bar.back, actions.back);
    onPress(this.#bar.next, actions.next);
    // A page that is closed can send nothing after these events.
    const flush = () => this.#step?.flush();
    document.addEventListener('visibilitychange', flush);
    window.addEventListener('pagehide', flush);
    this.#ends = [
      () => document.removeEventListener('visibilitychange', flush),
      () => window.removeEventListener('pagehide', flush),
      openWhilePrinting(root),
    ];
  }

  /** Shows the page before the current step. @param start the text of the button that goes to the step */
  showCover(shown: LessonCover, start: string): void {
    this.#root.classList.add('lectern-is-covered');
    this.#heading.textContent = this.#lesson.title;
    this.#section.hidden = this.#bar.back.hidden = true;
    this.#bar.setNext(start);
    this.#cover = coverView(shown, this.#lesson.steps.length, this.#stepHost);
    this.#cover.append(...this.#credits.lineFor(shown.image));
    this.#stage.append(this.#cover);
  }

  /**
   * Shows the current step, or the end. The caller then calls `mark`.
   *
   * @param isChange false for the first time: the page keeps its focus and scroll position
   */
  show(progress: LessonProgress, isChange: boolean): void {
    const { language } = this.#stepHost;
    const { atEnd, index } = progress;
    const current = currentStep(this.#lesson, progress);
    // The cover needs no label, because its heading is the name of the whole player.
    this.#stage.setAttribute('aria-labelledby', this.#heading.id);
    this.#shownIndex = atEnd ? undefined : index;
    this.#progressBar.show(progress);
    const position = atEnd ? '' : stepPosition(index, this.#lesson, language);
    this.#bar.setPosition(position);
    const above = atEnd ? '' : (this.#lesson.sections[current.sectionIndex]?.title ?? '');
    const isOtherSection = above !== this.#section.textContent;
    const title = atEnd ? message(language, 'lesson.complete') : stepTitle(current, this.#lesson, language);
    this.#section.textContent = above;
    this.#section.hidden = above === '' || above === title;
    this.#heading.textContent = title;
    this.#bar.back.hidden = index === 0;
    if (atEnd) this.#showEnd(progress);
    else this.#showContent(current);
    if (!isChange) return;
    const announced = isOtherSection && !this.#section.hidden ? [above, position] : [position];
    this.#status.textContent = announced.join(message(language, 'widget.sentenceBreak'));
    this.focus();
  }

  /**
   * Shows what the learner has done, in the outline and around the step.
   *
   * @param next the text of the Next button
   * @param hasTask whether the step has a question to answer or to retry
   */
  mark(progress: LessonProgress, next: string, hasTask: boolean): void {
    this.#outline.show(progress);
    this.#bar.setNext(progress.atEnd ? undefined : next);
    // One button stands out: the question's while it is unanswered or can be retried, otherwise Next.
    this.#bar.next.classList.toggle('lectern-is-quiet', hasTask);
  }

  /** Asks before the lesson is finished. */
  askFinish(before: BeforeFinish, finish: () => void): void {
    const { goToIndex } = this.#actions;
    askFinish(this.#root, this.#lesson, this.#stepHost.language, before, { finish, goToIndex });
  }

  /** Returns the current heading: of a step, the cover or the end. */
  heading(): string {
    return this.#heading.textContent;
  }

  /** Removes the step; its widgets may report a last time. */
  leave(): void {
    this.#awaited = undefined;
    this.#stopMarking?.();
    this.#step?.flush();
    this.#step?.destroy();
    this.#end?.remove();
    this.#cover?.remove();
    this.#root.classList.remove('lectern-is-covered');
    this.#step = this.#end = this.#cover = undefined;
  }

  /** Focuses the heading of the step and scrolls to it. */
  focus(): void {
    this.#heading.focus({ preventScroll: true });
    // scrollIntoView scrolls every container: the page, a part of it, pages around a frame.
    for (const target of [this.#skip, this.#heading])
      target.scrollIntoView({ block: 'nearest', behavior: 'instant' });
  }

  /** Focuses a question of the step and scrolls to it, as soon as the step is loaded. */
  focusQuestion(widgetId: string): void {
    const slot = this.#step?.slotOf(widgetId);
    this.#awaited = slot === undefined ? widgetId : undefined;
    if (slot === undefined) return;
    focusBlock(slot);
    slot.scrollIntoView({ block: 'start', behavior: 'instant' });
  }

  /** Outlines a block of the step and scrolls to it, as soon as it is on the page. */
  markBlock(widgetId: string): void {
    const mark = () => {
      const block = this.#step?.slotOf(widgetId);
      if (block !== undefined) outline(block);
      return block !== undefined;
    };
    if (mark()) return;
    // Its step or the block around it may still be loaded.
    const observer = new MutationObserver(() => mark() && observer.disconnect());
    observer.observe(this.#stage, { childList: true, subtree: true });
    this.#stopMarking = () => observer.disconnect();
  }

  destroy(): void {
    for (const end of this.#ends) end();
    for (const part of [this.#presented, this.#panel, this.#bar, this.#progressBar]) part?.destroy();
    this.#root.remove();
  }

  #append(): void {
    const { header, tools, bar } = this.#bar;
    const stage = element('div', { class: 'lectern-stage' }, tools, this.#stage, bar);
    if (this.#presented) header.append(this.#presented.button);
    this.#root.append(
      ...[this.#skip, header],
      element('div', { class: 'lectern-lesson-body' }, this.#panel.side, stage),
      ...[this.#panel.drawer, this.#status],
    );
  }

  #presentation(): ReturnType<typeof presentation> {
    const actions = this.#actions;
    const after = () => (this.#shownIndex ?? this.#lesson.steps.length) + 1;
    return presentation(this.#root, this.#stepHost.language, {
      next: () => (this.#cover ? actions.next() : actions.goToIndex(after())),
      back: actions.back,
      focus: () => this.focus(),
    });
  }

  #showEnd(progress: LessonProgress): void {
    const { language } = this.#stepHost;
    this.#end = endView(this.#lesson, progress, language, this.#actions);
    this.#end.append(...this.#credits.list(language));
    this.#stage.append(this.#end);
  }

  /** Shows the blocks of the current step, as soon as they are loaded. */
  #showContent(current: PlayedStep): void {
    const stage = this.#stage;
    const content = this.#lesson.contentOf(current);
    if (content !== undefined) {
      this.#step = showStep(stage, current, content, this.#stepHost);
      if (this.#awaited !== undefined) this.focusQuestion(this.#awaited);
      return;
    }
    this.#step = showLoading(stage, {
      language: this.#stepHost.language,
      load: () => this.#lesson.load(current.index),
      onFailed: (cause) => this.#stepHost.report('step_not_loaded', current, null, cause),
      onLoaded: () => {
        const hasFocus = stage.contains(activeElement(stage));
        this.#step?.destroy();
        this.#showContent(current);
        this.#actions.loaded();
        if (hasFocus && !stage.querySelector('.lectern-slot:focus')) this.focus();
      },
    });
  }
}

/** Outlines a block in view: panels around it open. A block in another tab has no place, but the block around it has. */
function outline(block: HTMLElement): void {
  for (let panel = block.closest('details'); panel; panel = panel.parentElement?.closest('details') ?? null)
    panel.open = true;
  let shown: HTMLElement | null | undefined = block;
  while (shown && shown.getClientRects().length === 0)
    shown = shown.parentElement?.closest<HTMLElement>('.lectern-slot');
  (shown ?? block).classList.add('lectern-is-marked');
  (shown ?? block).scrollIntoView({ block: 'center', behavior: 'instant' });
}
