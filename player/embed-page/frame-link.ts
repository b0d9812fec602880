import { element } from '../dom.ts';
import { readFrameMessage } from './frame-messages.ts';
import type { FrameMessage } from './frame-messages.ts';
import type { SessionRecord } from './session-record.ts';

/** Of a record what the player goes on with. Who the learner is stays out: an organization's widgets can read it. */
export type FrameProgress = Pick<
  SessionRecord,
  'stepId' | 'currentSectionIndex' | 'currentStepIndex' | 'items' | 'progressData' | 'variableState'
>;

/** What the inner frame needs to play. */
export interface FrameStart {
  lesson: unknown;
  versionId: string;
  language: string;
  /** Absolute address of the folder with media and widgets. */
  content: string;
  /** Types of custom widgets that have a stylesheet; null where only asking for one can tell. */
  styledWidgets: string[] | null;
  /** Progress to go on with. */
  state: FrameProgress;
  /** CSS pixels that the learner can see at once. */
  visibleHeight: number;
  /** Id of a step to start at instead of the one in the state. */
  startAt?: string | undefined;
}

/** What the outer page tells the inner frame. */
export type OuterMessage =
  | ({ type: 'init' } & FrameStart)
  | { type: 'content'; base: string }
  | { type: 'visibleHeight'; height: number }
  | { type: 'goTo'; stepId: string }
  | { type: 'unmount' }
  | ({ type: 'remount' } & Pick<FrameStart, 'state' | 'startAt'>);

/** The inner frame: an origin of its own, and no way to this page but messages. */
export interface FrameLink {
  iframe: HTMLIFrameElement;
  /** False, and nothing is sent, before the frame was told how to start, and for a step while no lesson is mounted. */
  post(this: void, message: Exclude<OuterMessage, { type: 'init' | 'unmount' }>): boolean;
  /**
   * Takes the lesson off, and waits until its widgets have reported what they held back, but not for a busy frame. Mount
   * the lesson again then.
   *
   * @param onLate called when a busy frame has reported that after all
   */
  unmount(this: void, onLate: () => void): Promise<void>;
}

/** Scripts, links in new tabs, downloads; forms for their events. Not: an origin, or a way to this page. */
const sandbox = 'allow-scripts allow-forms allow-popups allow-popups-to-escape-sandbox allow-downloads';
/** A frame that is loaded over and over again by a widget gets no lesson any more. */
const maxStarts = 20;
/** Milliseconds that widgets have to report what they hold back. */
const unmountDeadline = 2000;

/** @param start called for each time that the frame is loaded */
export function openFrame(
  { src, title }: { src: string; title: string },
  start: () => FrameStart,
  onMessage: (message: Exclude<FrameMessage, { type: 'unmounted' }>) => void,
): FrameLink {
  const iframe = element('iframe', {
    class: 'lectern-embed-frame',
    sandbox,
    src,
    title,
    referrerpolicy: 'no-referrer',
    allow: 'fullscreen; autoplay',
  });
  let port: MessagePort | undefined;
  let starts = 0;
  let isMounted = true;
  /** What follows each unmount that the frame has not confirmed yet, in the order in which they were sent. */
  let unmounting: (() => void)[] = [];

  addEventListener('message', ({ source, data }: MessageEvent<unknown>) => {
    if (source === null || source !== iframe.contentWindow || !isHello(data) || starts >= maxStarts) return;
    starts += 1;
    port?.close();
    const channel = new MessageChannel();
    port = channel.port1;
    port.onmessage = (event: MessageEvent<unknown>) => {
      const message = readFrameMessage(event.data);
      if (message?.type === 'unmounted') unmounting.shift()?.();
      else if (message !== undefined) onMessage(message);
    };
    // A frame without an origin cannot be named as a target. Only Lectern's own pages can be in it.
    isMounted = true;
    unmounting = [];
    iframe.contentWindow.postMessage({ type: 'init', ...start() }, '*', [channel.port2]);
  });
  return {
    iframe,
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
        }, unmountDeadline);
      });
    },
  };
}

export function progressForFrame(record: SessionRecord): FrameProgress {
  const { stepId, currentSectionIndex, currentStepIndex, items, progressData, variableState } = record;
  const place = { currentSectionIndex, currentStepIndex, ...(stepId !== undefined && { stepId }) };
  return { ...place, items, progressData, variableState };
}

function isHello(data: unknown): boolean {
  const { source, v, type } = (data ?? {}) as Record<string, unknown>;
  return source === 'lectern-frame' && v === 1 && type === 'hello';
}
