import type { AnswerResult, Block } from '../block.ts';
import { element } from '../dom.ts';
import type { BlockHost } from './block-host.ts';
import { showBlocks } from './block-view.ts';
import { reportEditedField } from './focus.ts';
import type { LessonErrorCode } from './options.ts';
import type { PlayedStep } from './read-lesson.ts';
import { stepLayout } from './step-layout.ts';

/** What a step needs of the lesson around it, and tells it. */
export interface StepRoom extends Omit<
  BlockHost,
  'followers' | 'hasDraft' | 'saved' | 'answer' | 'draft' | 'setVariable' | 'report'
> {
  saved(step: PlayedStep, widgetId: unknown): ReturnType<BlockHost['saved']>;
  /** @param at when the learner gave it, Unix milliseconds: widgets may report it later. */
  answer(step: PlayedStep, block: Block, value: unknown, result: AnswerResult | undefined, at: number): void;
  /** @returns whether it is kept until it is submitted; otherwise the step reports it as an answer in time */
  draft(step: PlayedStep, block: Block, value: unknown): boolean;
  setVariable(step: PlayedStep, block: Block, name: string, value: unknown): void;
  report(code: LessonErrorCode, step: PlayedStep, block: Block, cause: unknown): void;
}

/** The blocks of a step on the page. */
export interface StepView {
  /** Has the field that is being edited report what is in it, and reports drafts that are not kept elsewhere. */
  flush(): void;
  destroy(): void;
}

/** Shows the blocks of a step, and keeps them in step with answers and variables. */
export function showStep(parent: HTMLElement, step: PlayedStep, room: StepRoom): StepView {
  const { blocks, followers } = stepLayout(step.content);
  const body = element('div', { class: 'lectern-step-body lectern-stack' });
  // On the page before it is filled, for widgets that measure the room they have.
  parent.append(body);
  /** When something was put in that is not reported yet, by the slot of the widget. */
  const drafts = new Map<Element, number>();
  function noteDraft({ target }: Event): void {
    const slot = target instanceof Element ? target.closest('.lectern-slot') : null;
    if (slot) drafts.set(slot, Date.now());
  }
  // On its way down: the widget may set a variable as soon as it hears of the input itself.
  body.addEventListener('input', noteDraft, { capture: true });
  /** Drafts to report when the page is hidden, and what was reported of them, so that it is no second answer. */
  const unkept = new Map<HTMLElement, { block: Block; value: unknown }>();
  const flushed = new Map<HTMLElement, string>();

  let isUpdating = false;
  let isAlive = true;
  /** Widgets are made to report what they hold back. */
  let isCollecting = false;
  /** Later, and once for many changes: a widget is not taken away while it is reporting. */
  function updateSoon(): void {
    if (isUpdating) return;
    isUpdating = true;
    queueMicrotask(() => {
      isUpdating = false;
      if (isAlive) view.update();
    });
  }

  function answer(block: Block, host: HTMLElement, value: unknown, result: AnswerResult | undefined): void {
    if (isCollecting && flushed.has(host) && flushed.get(host) === JSON.stringify(value)) return;
    const editedAt = isCollecting ? drafts.get(host) : undefined;
    drafts.delete(host);
    unkept.delete(host);
    flushed.delete(host);
    room.answer(step, block, value, result, editedAt ?? Date.now());
    updateSoon();
  }

  const view = showBlocks(body, blocks, {
    ...room,
    followers: (widgetId) => (typeof widgetId === 'string' ? (followers.get(widgetId) ?? []) : []),
    hasDraft: (host) => [...drafts.keys()].some((slot) => host.contains(slot)),
    saved: (widgetId) => room.saved(step, widgetId),
    answer,
    draft(block, host, value) {
      if (room.draft(step, block, value) || value === undefined) unkept.delete(host);
      else unkept.set(host, { block, value });
    },
    setVariable(block, name, value) {
      room.setVariable(step, block, name, value);
      updateSoon();
    },
    report: (code, block, cause) => room.report(code, step, block, cause),
  });
  // It is most likely in view, and need not wait until the browser knows.
  body.querySelector('img')?.setAttribute('loading', 'eager');
  return {
    flush() {
      isCollecting = true;
      reportEditedField(body);
      for (const [host, { block, value }] of [...unkept]) {
        answer(block, host, value, undefined);
        flushed.set(host, JSON.stringify(value));
      }
      isCollecting = false;
    },
    destroy() {
      isCollecting = true;
      view.destroy();
      isAlive = false;
      body.remove();
    },
  };
}
