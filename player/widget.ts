/**
 * The widget contract: what a widget's ES module exports, and what the player hands to it.
 * docs/widgets.md tells it to widget authors; the two are kept in step.
 */

import type { AnswerResult, Block } from './block.ts';

export type { AnswerResult, Block };

/** The widget's way to the lesson around it. The player makes one for each mounted block. */
export interface WidgetContext {
  /** The lesson's language, a BCP 47 tag such as `en` or `pt-BR`: for the widget's own words. */
  language: string;

  /**
   * The address of a medium. Takes what the author wrote (`media:<uuid>`, `./media/<uuid>.<ext>`, or an
   * address) and returns what a `src` attribute can use. What it does not know it returns unchanged.
   */
  resolveMedia(src: string): string;

  /**
   * Reports the learner's answer, which replaces the one before. The value must survive JSON: it comes back
   * as `state`. A widget that scores itself passes the result; one that has nothing to score leaves it out.
   */
  answer(value: unknown, result?: AnswerResult): void;

  /** Sets a lesson variable. A name that the lesson does not define is ignored. */
  setVariable(name: string, value: unknown): void;

  /** Renders nested blocks into an element of the widget. The player destroys them with the widget. */
  renderBlocks(element: HTMLElement, blocks: Block[]): void;
}

/** What `mount` receives. */
export interface MountOptions {
  /** The block's props as the author left them: nothing about them is checked. */
  props: unknown;
  /** The answer saved earlier, or undefined. */
  state: unknown;
  /** How many answers the learner has given to this block, in earlier visits too. */
  tries: number;
  context: WidgetContext;
}

/** A widget on the page. */
export interface MountedWidget {
  /** Removes what the widget put on the page, and its listeners and timers. */
  destroy(): void;
  /**
   * Returns the answer that the learner has begun and not submitted; undefined for none. The player asks after each
   * `input` event, and keeps it in case the page is closed.
   */
  draft?(): unknown;
}

/** The default export of a widget's module. */
export interface Widget {
  /** The block type that the widget renders. */
  type: string;
  /**
   * Renders a block into an empty element. It never throws because of props or state: what is missing or of
   * the wrong kind is left out, and the rest is shown.
   */
  mount(element: HTMLElement, options: MountOptions): MountedWidget;
  /**
   * Props that the widget shows as plain text. Values of variables are put into them as they are; into all other
   * props they are put as HTML text.
   */
  plainProps?: readonly string[];
}
