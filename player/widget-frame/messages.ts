import type { AnswerResult } from '../block.ts';
import type { WidgetCode } from '../widget.ts';

/*
 * Messages between the player and the frame of a custom widget. The frame runs code of a third party, so the player
 * trusts none of its messages.
 */

/** The first message, which brings the port. */
export interface FrameInit extends WidgetCode {
  language: string;
  direction: 'ltr' | 'rtl';
  /** Rules of fonts, which a document does not inherit. */
  fonts: string;
}

/** How the page around the widget looks. */
export interface Look {
  /** Custom properties of the page, and `color-scheme` and `font-size` of its root. */
  style: Record<string, string>;
}

/** Messages to the frame. */
export type ToFrame =
  | ({ type: 'look' } & Look)
  /** Mounts the widget, in place of an earlier one. `media` has the URLs or the bytes of the files in the props. */
  | { type: 'mount'; props: unknown; state: unknown; tries: number; media: Record<string, string | Blob> };

/** Messages of the frame. */
export type FromFrame =
  /** The module is loaded. */
  | { type: 'loaded'; plainProps: readonly string[] }
  /** The module cannot be loaded, or the widget threw. */
  | { type: 'failed'; message: string }
  | { type: 'height'; height: number }
  | { type: 'answer'; value: unknown; result: AnswerResult | undefined }
  | { type: 'variable'; name: string; value: unknown }
  /** The learner has changed something; `draft` is undefined if no answer waits. */
  | { type: 'input'; draft: unknown }
  | { type: 'blocks'; blocks: unknown }
  /** The learner moved or pressed something in the frame. */
  | { type: 'active'; isPress: boolean };

const maxTextChars = 1000;
const maxHeight = 20_000;
const maxPlainProps = 100;

/** Reads a message of a frame; undefined if it is none. What the widget reports is checked where it is used. */
export function readFromFrame(data: unknown): FromFrame | undefined {
  if (typeof data !== 'object' || data === null) return undefined;
  const { type, ...message } = data as Record<string, unknown>;
  switch (type) {
    case 'loaded': {
      const names = Array.isArray(message.plainProps) ? (message.plainProps as unknown[]) : [];
      const plainProps = names.filter((name) => typeof name === 'string').slice(0, maxPlainProps);
      return { type, plainProps };
    }
    case 'failed':
      return { type, message: String(message.message).slice(0, maxTextChars) };
    case 'height': {
      const { height } = message;
      if (typeof height !== 'number' || !(height >= 0)) return undefined;
      return { type, height: Math.min(Math.ceil(height), maxHeight) };
    }
    case 'answer':
      return { type, value: message.value, result: message.result as AnswerResult | undefined };
    case 'variable':
      return typeof message.name === 'string'
        ? { type, name: message.name, value: message.value }
        : undefined;
    case 'input':
      return { type, draft: message.draft };
    case 'blocks':
      return { type, blocks: message.blocks };
    case 'active':
      return { type, isPress: message.isPress === true };
    default:
      return undefined;
  }
}
