import { measured, probed } from './content-height.ts';
import type { FrameHeight } from './content-height.ts';
import { grown, pauseMsOf } from './growth.ts';
import type { Growth } from './growth.ts';

/** How long a doubtful height must stay unchanged before it is probed, because a picture may still load. */
const quietTimeMs = 100;
/**
 * How long the height stays after an event, until the next one: a press ends with a click, which follows its pointerup.
 * A lesson that follows its frame would otherwise move the pressed button away, and the browser would drop the click.
 */
const holdMs = { pointerdown: 1000, pointerup: 100, pointercancel: 0, click: 0, keydown: 0 };

/**
 * Watches an element's height and requests a frame of the same height.
 *
 * @param request called with CSS pixels when they change
 */
export function followHeight(element: HTMLElement, request: (height: number) => void): void {
  let height: FrameHeight | undefined;
  let requested: Growth | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let pauseTimer: ReturnType<typeof setTimeout> | undefined;
  /** Unix time in milliseconds. */
  let heldUntil = 0;

  function set(next: FrameHeight): void {
    height = next;
    clearTimeout(pauseTimer);
    const wanted = Math.ceil(next.wanted);
    if (wanted === requested?.height) return;
    const pausedUntil =
      requested !== undefined && wanted > requested.height ? requested.at + pauseMsOf(requested) : 0;
    const pauseMs = Math.max(pausedUntil, heldUntil) - Date.now();
    if (pauseMs <= 0) send(wanted);
    else if (pauseMs < Infinity) pauseTimer = setTimeout(() => send(wanted), pauseMs);
  }

  function send(wanted: number): void {
    requested = grown(requested, wanted, Date.now());
    request(wanted);
  }

  function measure(): void {
    const next = measured(height, element.getBoundingClientRect().height, innerHeight);
    if (next === height) return;
    set(next);
    clearTimeout(timer);
    if (next.held) timer = setTimeout(() => set(probed(next)), quietTimeMs);
  }

  for (const [type, ms] of Object.entries(holdMs)) {
    const onAction = () => {
      heldUntil = Date.now() + ms;
      // Growth after a learner's action is not an echo.
      if (requested) requested = { ...requested, echoes: 0 };
      if (height) set(height);
    };
    addEventListener(type, onAction, { capture: true });
  }
  new ResizeObserver(measure).observe(element);
  // The observer reports only if the new frame has changed the lesson's height, so this measures after each layout.
  addEventListener('resize', () => requestAnimationFrame(() => setTimeout(measure)));
}
