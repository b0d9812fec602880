import { isCoreIn } from '../../shared/lessons/core-widgets.ts';
import type { OwnTypes } from '../../shared/lessons/core-widgets.ts';
import type { Block as LessonBlock } from '../../shared/lessons/lesson-content.ts';
import type { AnswerResult, Block } from '../block.ts';
import type { CoreContext } from '../define.ts';
import { element } from '../dom.ts';
import { jsonCopy } from '../props.ts';
import type { MountedWidget, MountOptions, Widget, WidgetContext } from '../widget.ts';
import { notice } from '../figure.ts';
import type { LessonErrorCode } from './options.ts';
import type { FramedWidget, MountedFrame } from './framed-widget.ts';
import type { Variables } from './visibility.ts';
import { UnknownWidget } from './widget-loader.ts';
import type { WidgetLoader } from './widget-loader.ts';
import { message } from '../../shared/i18n/message.ts';

/** The lesson around the blocks of a step. */
export interface BlockHost {
  language: string;
  overrides: Record<string, unknown>;
  ownTypes: OwnTypes;
  widgetTimeoutMs: number;
  widgetFor: WidgetLoader;
  resolveMedia(src: string): string;
  openVideo: CoreContext['openVideo'];
  creditsFor: CoreContext['creditsFor'];
  sizeOf: CoreContext['sizeOf'];
  variables(): Variables;
  /** Returns the blocks of legacy zones that follow a block. */
  followers(widgetId: unknown): readonly LessonBlock[];
  /** Checks whether an element contains input that no widget has reported yet. */
  hasDraft(host: HTMLElement): boolean;
  /** Returns the earlier answers to a block. */
  saved(block: Block): Pick<MountOptions, 'state' | 'tries'>;
  answer(block: Block, host: HTMLElement, value: unknown, result: AnswerResult | undefined): void;
  /** @param value the answer that is not submitted yet; undefined once there is none */
  draft(block: Block, host: HTMLElement, value: unknown): void;
  setVariable(block: Block, name: string, value: unknown): void;
  report(code: LessonErrorCode, block: Block, cause: unknown): void;
}

/** A block's widget on the page, or a notice in its place. */
export interface MountedBlock {
  destroy(): void;
  /** Mounts a widget in a frame again, with other props. Missing for all others: destroy and mount them. */
  update?(props: Block['props']): void;
}

/** Mounts a widget. If it fails, its element shows a notice, and the error is reported. */
export function mountWidget(
  host: HTMLElement,
  block: Block,
  widget: Widget,
  blockHost: BlockHost,
  renderBlocks: WidgetContext['renderBlocks'],
): MountedBlock {
  let mounted: (MountedWidget & Partial<MountedFrame>) | undefined;
  let isAlive = true;
  let hasDraft = false;

  const context: CoreContext = {
    language: blockHost.language,
    openVideo: blockHost.openVideo,
    creditsFor: blockHost.creditsFor,
    sizeOf: blockHost.sizeOf,
    resolveMedia: (src) => blockHost.resolveMedia(src),
    answer(value: unknown, result?: AnswerResult) {
      if (isAlive) blockHost.answer(block, host, value, result);
    },
    setVariable(name, value) {
      if (isAlive) blockHost.setVariable(block, name, value);
    },
    renderBlocks(nestedHost, blocks) {
      if (isAlive) renderBlocks(nestedHost, blocks);
    },
  };

  function fail(error: unknown): void {
    if (!isAlive) return;
    host.replaceChildren();
    showFailure(host, block, 'widget_failed', error, blockHost);
  }

  /** Runs after the widget's own listeners, so that its draft includes the input. */
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
      // Custom widgets get a copy, because they may change their props.
      props: isCoreIn(blockHost.ownTypes, block.type) ? block.props : jsonCopy(block.props),
      ...blockHost.saved(block),
      context,
    });
    // A custom widget's `mount` may still be async: its failure is reported.
    if (mounted instanceof Promise) mounted.catch(fail);
    mounted.failure?.catch(fail);
  } catch (error) {
    fail(error);
  }

  const update = mounted?.update;
  return {
    update: update && ((props) => update({ props, ...blockHost.saved({ ...block, props }) })),
    destroy() {
      // The widget may still report here: answers in `destroy` count.
      try {
        // Custom widgets may return nothing.
        (mounted as Partial<MountedWidget> | undefined)?.destroy?.();
      } catch (error) {
        blockHost.report('widget_failed', block, error);
      }
      // An answer from a frame may be on its way.
      if (mounted?.ended) void mounted.ended.then(() => (isAlive = false));
      else isAlive = false;
      host.removeEventListener('input', noteDraft);
      host.replaceChildren();
    },
  };
}

/** Shows that a widget is loading, and passes it on when it arrives, even after the notice that it is late. */
export function awaitWidget(
  host: HTMLElement,
  block: Block,
  widget: Promise<Widget | FramedWidget>,
  blockHost: BlockHost,
  onLoad: (widget: Widget) => void,
): MountedBlock {
  let isAlive = true;

  /** Removes everything but a frame, which would load again. */
  function settle(): void {
    clearTimeout(timeout);
    host.removeAttribute('aria-busy');
    for (const child of [...host.children]) if (!(child instanceof HTMLIFrameElement)) child.remove();
  }

  function fail(code: LessonErrorCode, cause: unknown): void {
    settle();
    showFailure(host, block, code, cause, blockHost);
  }

  const timeout = setTimeout(() => {
    fail('widget_late', new Error(`The widget did not load within ${blockHost.widgetTimeoutMs} ms`));
  }, blockHost.widgetTimeoutMs);
  host.setAttribute('aria-busy', 'true');
  host.append(
    element('p', { class: 'lectern-block lectern-loading' }, message(blockHost.language, 'lesson.loading')),
  );
  const opened = widget.then((found) => ('mount' in found || !isAlive ? found : found.open(host)));
  opened.then(
    (ready) => {
      if (!isAlive || !('mount' in ready)) return;
      settle();
      onLoad(ready);
    },
    (error: unknown) => {
      if (isAlive) fail(error instanceof UnknownWidget ? 'unknown_widget' : 'widget_not_loaded', error);
    },
  );

  return {
    destroy() {
      isAlive = false;
      settle();
      host.replaceChildren();
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
  host.append(notice(message(blockHost.language, 'lesson.blockMissing'), block.type));
  blockHost.report(code, block, cause);
}
