/**
 * The interface between the player and widgets: the export of a widget's ES module, and the player's context for it.
 * docs/widgets.md describes it for widget authors: change both.
 */

import type { AnswerResult, Block } from './block.ts';

export type { AnswerResult, Block };

/** Connects a widget with its lesson. The player makes one for each mounted block. */
export interface WidgetContext {
  /** The lesson's language, a BCP 47 tag such as `en` or `pt-BR`: for the widget's own texts. */
  language: string;

  /**
   * Returns the URL of a media file, for a `src` attribute. Takes the author's reference: `media:<uuid>`,
   * `./media/<uuid>.<ext>`, or a URL. Returns unknown ones unchanged.
   */
  resolveMedia(src: string): string;

  /**
   * Reports the learner's answer, which replaces the earlier one. The value must be JSON: later, it is the `state`.
   * Widgets that score themselves pass the result.
   */
  answer(value: unknown, result?: AnswerResult): void;

  /** Sets a lesson variable. Undefined names are ignored. */
  setVariable(name: string, value: unknown): void;

  /** Shows nested blocks in an element of the widget. The player destroys them with the widget. */
  renderBlocks(element: HTMLElement, blocks: Block[]): void;
}

/** The options of `mount`. */
export interface MountOptions {
  /** The block's props as the author wrote them, unchecked. */
  props: unknown;
  /** The answer saved earlier, or undefined. */
  state: unknown;
  /** The number of the learner's answers to this block, including earlier visits. */
  tries: number;
  context: WidgetContext;
}

/** A widget on the page. */
export interface MountedWidget {
  /** Removes the widget's elements, listeners and timers. */
  destroy(): void;
  /**
   * Returns the learner's answer that is not submitted yet; undefined if there is none. The player calls it after each
   * `input` event, and keeps the draft in case the page is closed.
   */
  draft?(): unknown;
}

/** The default export of a widget's module. */
export interface Widget {
  /** The type of the widget's blocks. */
  type: string;
  /**
   * Shows a block in an empty element. It must not throw because of props or state: skip missing and invalid parts, and
   * show the rest.
   */
  mount(element: HTMLElement, options: MountOptions): MountedWidget;
  /** Props that the widget shows as plain text. The player escapes values of variables in all other props for HTML. */
  plainProps?: readonly string[];
}

/** The files of a widget, which the player runs in a sandboxed frame. */
export interface WidgetCode {
  /** The source of its ES module. */
  js: string;
  /** Its stylesheet; null without one. */
  css: string | null;
  /** A Content-Security-Policy for its frame, which also has the page's. */
  policy?: string;
}
