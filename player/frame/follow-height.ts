import { measured, probed } from './content-height.ts';
import type { FrameHeight } from './content-height.ts';
import { grown, pauseMsOf } from './growth.ts';
import type { Growth } from './growth.ts';

/** How long a doubtful height must stay unchanged before it is probed, because a picture may still load. */
const quietTimeMs = 100;

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

  function set(next: FrameHeight): void {
    height = next;
    clearTimeout(pauseTimer);
    const wanted = Math.ceil(next.wanted);
    if (wanted === requested?.height) return;
    const pauseMs =
      requested && wanted > requested.height ? requested.at + pauseMsOf(requested) - Date.now() : 0;
    if (pauseMs <= 0) send(wanted);
    else if (pauseMs < Infinity) pauseTimer = setTimeout(() => send(wanted), pauseMs);
  }

  function send(wanted: number): void {
    requested = grown(requested, wanted, Date.now());
    request(wanted);
  }

  /** Growth after a learner's action is no echo. */
  function resetEchoes(): void {
    if (requested) requested = { ...requested, echoes: 0 };
    if (height) set(height);
  }

  function measure(): void {
    const next = measured(height, element.getBoundingClientRect().height, innerHeight);
    if (next === height) return;
    set(next);
    clearTimeout(timer);
    if (next.held) timer = setTimeout(() => set(probed(next)), quietTimeMs);
  }

  for (const type of ['pointerdown', 'keydown']) addEventListener(type, resetEchoes, { capture: true });
  new ResizeObserver(measure).observe(element);
  // The observer reports only if the new frame has changed the lesson's height, so this measures after each layout.
  addEventListener('resize', () => requestAnimationFrame(() => setTimeout(measure)));
}
