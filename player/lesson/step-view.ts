import type { AnswerResult, Block } from '../block.ts';
import { element } from '../dom.ts';
import { showBlocks } from './block-view.ts';
import { reportEditedField } from './focus.ts';
import type { BlockHost } from './mounted-widget.ts';
import type { LessonErrorCode } from './options.ts';
import type { PlayedStep, StepContent } from './read-lesson.ts';
import { stepLayout } from './step-layout.ts';

/** The lesson around a step. */
export interface StepHost extends Omit<
  BlockHost,
  'followers' | 'hasDraft' | 'saved' | 'answer' | 'draft' | 'setVariable' | 'report'
> {
  saved(step: PlayedStep, block: Block): ReturnType<BlockHost['saved']>;
  /** @param at time of the input, in Unix milliseconds: widgets may report it later. */
  answer(step: PlayedStep, block: Block, value: unknown, result: AnswerResult | undefined, at: number): void;
  /** @returns false if the draft is not kept: the step then reports it as an answer before the page is closed */
  draft(step: PlayedStep, block: Block, value: unknown): boolean;
  setVariable(step: PlayedStep, block: Block, name: string, value: unknown): void;
  report(code: LessonErrorCode, step: PlayedStep, block: Block | null, cause: unknown): void;
}

/** The blocks of a step on the page. */
export interface StepView {
  /** Makes the edited field report its value, and reports drafts that are not kept elsewhere. */
  flush(): void;
  /** Returns the element of a block; undefined if the step has none or is not loaded. */
  slotOf(widgetId: string): HTMLElement | undefined;
  destroy(): void;
}

/** Shows the blocks of a step, and updates them when answers or variables change. */
export function showStep(
  parent: HTMLElement,
  step: PlayedStep,
  content: StepContent,
  stepHost: StepHost,
): StepView {
  const { blocks, followers } = stepLayout(content);
  const body = element('div', { class: 'lectern-step-body lectern-stack' });
  // Appended before it is filled, for widgets that measure their size.
  parent.append(body);
  /** Times of input that no widget has reported yet, by the widget's slot. */
  const drafts = new Map<Element, number>();
  function noteDraft({ target }: Event): void {
    const slot = target instanceof Element ? target.closest('.lectern-slot') : null;
    if (slot) drafts.set(slot, Date.now());
  }
  // In the capture phase, because the widget's own listener may set a variable at once.
  body.addEventListener('input', noteDraft, { capture: true });
  /** Drafts to report when the page is hidden, and the reported ones, so that they do not count as second answers. */
  const unkept = new Map<HTMLElement, { block: Block; value: unknown }>();
  const flushed = new Map<HTMLElement, string>();

  let isUpdating = false;
  let isAlive = true;
  /** True while widgets are made to report their drafts. */
  let isCollecting = false;
  /** Updates later, and once for many changes, because a widget must not be removed while it reports. */
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
    stepHost.answer(step, block, value, result, editedAt ?? Date.now());
    updateSoon();
  }

  const view = showBlocks(body, blocks, {
    ...stepHost,
    followers: (widgetId) => (typeof widgetId === 'string' ? (followers.get(widgetId) ?? []) : []),
    hasDraft: (host) => [...drafts.keys()].some((slot) => host.contains(slot)),
    saved: (block) => stepHost.saved(step, block),
    answer,
    draft(block, host, value) {
      if (stepHost.draft(step, block, value) || value === undefined) unkept.delete(host);
      else unkept.set(host, { block, value });
    },
    setVariable(block, name, value) {
      stepHost.setVariable(step, block, name, value);
      updateSoon();
    },
    report: (code, block, cause) => stepHost.report(code, step, block, cause),
  });
  // The first picture is probably in view, so it need not wait for the layout.
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
    slotOf: (widgetId) =>
      [...body.querySelectorAll<HTMLElement>('.lectern-slot')].find(
        ({ dataset }) => dataset.lecternBlock === widgetId,
      ),
    destroy() {
      isCollecting = true;
      view.destroy();
      isAlive = false;
      body.remove();
    },
  };
}
