import { isCoreWidget } from '../../shared/lessons/core-widgets.ts';
import type { AnswerResult, Block } from '../block.ts';
import { element } from '../dom.ts';
import { jsonCopy } from '../props.ts';
import type { MountedWidget, Widget, WidgetContext } from '../widget.ts';
import type { BlockHost } from './block-host.ts';
import { notice } from '../figure.ts';
import type { LessonErrorCode } from './options.ts';
import { UnknownWidget } from './widget-loader.ts';
import { message } from '../../shared/i18n/message.ts';

/** A block's widget on the page, or what stands in its place. */
export interface MountedBlock {
  destroy(): void;
}

/** Mounts a widget. Whatever is wrong with it stays in its element and is reported. */
export function mountWidget(
  host: HTMLElement,
  block: Block,
  widget: Widget,
  blockHost: BlockHost,
  renderBlocks: WidgetContext['renderBlocks'],
): MountedBlock {
  let mounted: MountedWidget | undefined;
  let isAlive = true;
  let hasDraft = false;

  const context: WidgetContext = {
    language: blockHost.language,
    resolveMedia: (src) => blockHost.resolveMedia(src),
    answer(value: unknown, result?: AnswerResult) {
      if (isAlive) blockHost.answer(block, host, value, result);
    },
    setVariable(name, value) {
      if (isAlive) blockHost.setVariable(block, name, value);
    },
    renderBlocks(place, blocks) {
      if (isAlive) renderBlocks(place, blocks);
    },
  };

  function fail(error: unknown): void {
    if (isAlive) showFailure(host, block, 'widget_failed', error, blockHost);
  }

  /** Comes after the widget's own listeners, which know the input by then. */
  function noteDraft(): void {
    try {
      const draft = (mounted as Partial<MountedWidget> | undefined)?.draft?.();
      if (draft === undefined && !hasDraft) return;
      hasDraft = draft !== undefined;
      blockHost.draft(block, host, draft);
    } catch (error) {
      blockHost.report('widget_failed', block, error);
    }
  }

  host.addEventListener('input', noteDraft);
  try {
    mounted = widget.mount(host, {
      // What a foreign widget does to its props stays with it.
      props: isCoreWidget(block.type) ? block.props : jsonCopy(block.props),
      ...blockHost.saved(block.props.id),
      context,
    });
    // A foreign `mount` may be async all the same: it is not waited for, but its failure is no secret.
    if (mounted instanceof Promise) mounted.catch(fail);
  } catch (error) {
    fail(error);
  }

  return {
    destroy() {
      // Called while the widget may still report: what it held back until now is an answer too.
      try {
        // Checked, for a foreign widget may return nothing.
        (mounted as Partial<MountedWidget> | undefined)?.destroy?.();
      } catch (error) {
        blockHost.report('widget_failed', block, error);
      }
      isAlive = false;
      host.removeEventListener('input', noteDraft);
      host.replaceChildren();
    },
  };
}

/**
 * Shows that a widget is on its way, and hands it over when it is there, also after the notice that it is late has
 * taken its place.
 */
export function awaitWidget(
  host: HTMLElement,
  block: Block,
  widget: Promise<Widget>,
  blockHost: BlockHost,
  arrived: (widget: Widget) => void,
): MountedBlock {
  let isAlive = true;

  function settle(): void {
    clearTimeout(deadline);
    host.removeAttribute('aria-busy');
    host.replaceChildren();
  }

  function fail(code: LessonErrorCode, cause: unknown): void {
    settle();
    showFailure(host, block, code, cause, blockHost);
  }

  const deadline = setTimeout(() => {
    fail('widget_late', new Error(`It was not there after ${blockHost.widgetTimeout} ms`));
  }, blockHost.widgetTimeout);
  host.setAttribute('aria-busy', 'true');
  host.append(
    element('p', { class: 'lectern-block lectern-loading' }, message(blockHost.language, 'lesson.loading')),
  );
  widget.then(
    (ready) => {
      if (!isAlive) return;
      settle();
      arrived(ready);
    },
    (error: unknown) => {
      if (isAlive) fail(error instanceof UnknownWidget ? 'unknown_widget' : 'widget_not_loaded', error);
    },
  );

  return {
    destroy() {
      isAlive = false;
      settle();
    },
  };
}

function showFailure(
  host: HTMLElement,
  block: Block,
  code: LessonErrorCode,
  cause: unknown,
  blockHost: BlockHost,
): void {
  host.replaceChildren(notice(message(blockHost.language, 'lesson.blockMissing'), block.type));
  blockHost.report(code, block, cause);
}
