import type { ChunkStep, LessonSkeleton } from '../../shared/lessons/lesson-skeleton.ts';
import type { PictureSize } from '../../shared/lessons/picture-size.ts';
import type { Scheme } from '../../shared/theme/tokens.ts';
import type { PlayerMessages, ThemeBoot } from './boot.ts';
import { readFrameMessage } from './frame-messages.ts';
import type { FrameMessage } from './frame-messages.ts';
import type { SessionRecord } from './session-record.ts';

/** The part of a record that the player resumes with. It does not identify the learner, because widgets can read it. */
export type FrameProgress = Pick<
  SessionRecord,
  'stepId' | 'currentSectionIndex' | 'currentStepIndex' | 'items' | 'progressData' | 'variableState'
>;

export interface FrameStart {
  lesson: LessonSkeleton;
  /**
   * The chunk in the page. Its steps are the JSON of {@link ChunkStep}s: copying a text and parsing it in the frame takes
   * less time than copying objects.
   */
  first: { chunk: number; steps: string };
  versionId: string;
  language: string;
  /** The messages in the lesson's language only. Those of all languages would add 19 kB to the frame's script. */
  messages: PlayerMessages;
  /** Absolute URL of the folder with media and widgets. */
  content: string;
  /** Types of custom widgets that have a stylesheet; null if unknown. */
  styledWidgets: string[] | null;
  state: FrameProgress;
  /** The organization's look; null for Lectern's own. */
  theme: ThemeBoot | null;
  /** Undefined if the page follows the device. */
  scheme: Scheme | undefined;
  /** Null if the frame is as high as the window, and scrolls. */
  visible: VisibleLesson | null;
  /** Whether the server stores what the learner does. */
  isRecorded: boolean;
  /** The facts about the course that the player shows; null without a course. */
  course: { hasReturn: boolean; sendsGrade: boolean } | null;
  /** Id of the step to start at, instead of the one in the state. */
  startAt?: string | undefined;
  /** Id of the block to show in that step. */
  startAtBlock?: string | undefined;
  /** Whether teachers or authors look at the lesson. */
  isPreview: boolean;
  /** Whether this page opens external videos. */
  externalVideos: boolean;
  /** The sizes of pictures that the lesson does not say, by media id. */
  pictureSizes: Record<string, PictureSize>;
}

/** The visible part of a frame that is as high as the lesson, in CSS pixels. */
export interface VisibleLesson {
  /** The height of the window. */
  height: number;
  /** The part of the frame above the visible part, and the part below it. */
  top: number;
  below: number;
}

/** Messages of the outer page to the inner frame. */
export type OuterMessage =
  /** Asks for a hello, which the frame may have sent before this page listened. */
  | { type: 'hello' }
  | ({ type: 'init' } & FrameStart)
  | { type: 'content'; base: string }
  | { type: 'scheme'; scheme: Scheme | undefined }
  | { type: 'theme'; css: string }
  | ({ type: 'visible' } & VisibleLesson)
  /** Whether the server has everything that the learner did. */
  | { type: 'saved'; isSaved: boolean }
  | { type: 'goTo'; stepId: string | null }
  /** Prints the step. */
  | { type: 'print' }
  | { type: 'chunk'; chunk: number; steps: ChunkStep[] }
  | { type: 'chunkFailed'; chunk: number; isGone: boolean }
  /** What the learner has done elsewhere on other steps than this one, which is shown. */
  | { type: 'update'; state: FrameProgress; stepId: string }
  | { type: 'unmount' }
  | ({ type: 'remount' } & Pick<FrameStart, 'state' | 'startAt'>);

/** The inner frame. Its origin is opaque, so it reaches this page only by messages. */
export interface FrameLink {
  iframe: HTMLIFrameElement;
  /** Shows the frame, and sends the lesson to it as soon as it has loaded. */
  open(this: void): void;
  /** Sends a message. Returns false if it cannot: before the frame has started, or a step while no lesson is mounted. */
  post(this: void, message: Exclude<OuterMessage, { type: 'hello' | 'init' | 'unmount' }>): boolean;
  /**
   * Unmounts the lesson, and waits until its widgets have reported their unsubmitted answers, but no longer than
   * {@link unmountTimeoutMs}.
   *
   * @param onLate called when a busy frame has reported them after all
   */
  unmount(this: void, onLate: () => void): Promise<void>;
}

/** Limits how often a widget can restart the frame. */
const maxStarts = 20;
/** The time in which widgets must report their unsubmitted answers. */
const unmountTimeoutMs = 2000;

/**
 * Connects the page with its inner frame.
 *
 * @param iframe loads with the page
 * @param start called each time the frame loads
 */
export function frameLink(
  iframe: HTMLIFrameElement,
  start: () => FrameStart,
  onMessage: (message: Exclude<FrameMessage, { type: 'unmounted' }>) => void,
): FrameLink {
  let port: MessagePort | undefined;
  let starts = 0;
  let isMounted = true;
  /** Callbacks of the unmounts that the frame has not confirmed yet, in their order. */
  let unmounting: (() => void)[] = [];

  function onHello({ source, data }: MessageEvent<unknown>): void {
    if (source === null || source !== iframe.contentWindow || !isHello(data) || starts >= maxStarts) return;
    if (data.isAnswer === true && starts > 0) return;
    starts += 1;
    port?.close();
    const channel = new MessageChannel();
    port = channel.port1;
    port.onmessage = (event: MessageEvent<unknown>) => {
      const message = readFrameMessage(event.data);
      if (message?.type === 'unmounted') unmounting.shift()?.();
      else if (message !== undefined) onMessage(message);
    };
    // No target origin matches an opaque origin. The frame can only contain Lectern's own pages.
    isMounted = true;
    unmounting = [];
    iframe.contentWindow.postMessage({ type: 'init', ...start() }, '*', [channel.port2]);
  }

  return {
    iframe,
    open() {
      iframe.hidden = false;
      addEventListener('message', onHello);
      iframe.contentWindow?.postMessage({ type: 'hello' }, '*');
    },
    post(message) {
      if (message.type === 'remount') isMounted = true;
      if (!isMounted && message.type === 'goTo') return false;
      port?.postMessage(message);
      return port !== undefined;
    },
    async unmount(onLate) {
      if (port === undefined) return;
      isMounted = false;
      port.postMessage({ type: 'unmount' });
      await new Promise<void>((resolve) => {
        unmounting.push(resolve);
        setTimeout(() => {
          unmounting = unmounting.map((follow) => (follow === resolve ? onLate : follow));
          resolve();
        }, unmountTimeoutMs);
      });
    },
  };
}

export function progressForFrame(record: SessionRecord): FrameProgress {
  const { stepId, currentSectionIndex, currentStepIndex, items, variableState, attemptCompleted } = record;
  // The record decides on completion and tries: the state may come from another device.
  const progressData = { ...record.progressData, completed: attemptCompleted, tries: [] };
  const position = { currentSectionIndex, currentStepIndex, ...(stepId !== undefined && { stepId }) };
  return { ...position, items, progressData, variableState };
}

function isHello(data: unknown): data is { isAnswer?: unknown } {
  const { source, v, type } = (data ?? {}) as Record<string, unknown>;
  return source === 'lectern-frame' && v === 1 && type === 'hello';
}
