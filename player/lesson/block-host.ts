import type { Block as LessonBlock } from '../../shared/lessons/lesson-content.ts';
import type { AnswerResult, Block } from '../block.ts';
import type { MountOptions } from '../widget.ts';
import type { LessonErrorCode } from './options.ts';
import type { Variables } from './visibility.ts';
import type { WidgetLoader } from './widget-loader.ts';

/** What the blocks of a step need of the lesson around them. */
export interface BlockHost {
  language: string;
  overrides: Record<string, unknown>;
  /** Milliseconds. */
  widgetTimeout: number;
  widgetFor: WidgetLoader;
  resolveMedia(src: string): string;
  variables(): Variables;
  /** The blocks that follow a block because a legacy zone names it. */
  followers(widgetId: unknown): readonly LessonBlock[];
  /** Whether the learner has put something in, in the element, that no widget has reported yet. */
  hasDraft(host: HTMLElement): boolean;
  /** What a widget is given back of earlier answers. */
  saved(widgetId: unknown): Pick<MountOptions, 'state' | 'tries'>;
  answer(block: Block, host: HTMLElement, value: unknown, result: AnswerResult | undefined): void;
  /** @param value what the learner has not submitted yet; undefined when there is no such thing any more */
  draft(block: Block, host: HTMLElement, value: unknown): void;
  setVariable(block: Block, name: string, value: unknown): void;
  report(code: LessonErrorCode, block: Block, cause: unknown): void;
}
