import { measured, probed } from './content-height.ts';
import type { FrameHeight } from './content-height.ts';
import { grown, pauseMsOf } from './growth.ts';
import type { Growth } from './growth.ts';
import { pressGuard } from './press-guard.ts';

/** How long a doubtful height must stay unchanged before it is probed, because a picture may still load. */
const quietTimeMs = 100;
/** The events of learners' actions that may make the lesson grow. */
const actions = ['pointerdown', 'pointerup', 'click', 'keydown'];

/**
 * Watches an element's height and requests a frame of the same height.
 *
 * @param request called with CSS pixels when they change
 * @returns a function that measures now: browsers observe no sizes in a frame of another origin that is out of view
 */
export function followHeight(element: HTMLElement, request: (height: number) => void): () => void {
  let height: FrameHeight | undefined;
  let requested: Growth | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let pauseTimer: ReturnType<typeof setTimeout> | undefined;
  const afterPress = pressGuard();

  function set(next: FrameHeight): void {
    height = next;
    afterPress(ask);
  }

  function ask(): void {
    clearTimeout(pauseTimer);
    if (height === undefined) return;
    const wanted = Math.ceil(height.wanted);
    if (wanted === requested?.height) return;
    const pauseMs =
      requested !== undefined && wanted > requested.height
        ? requested.at + pauseMsOf(requested) - Date.now()
        : 0;
    if (pauseMs <= 0) send(wanted);
    else if (pauseMs < Infinity) pauseTimer = setTimeout(() => afterPress(ask), pauseMs);
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

  for (const type of actions) {
    const onAction = () => {
      // Growth after a learner's action is not an echo.
      if (requested) requested = { ...requested, echoes: 0 };
      afterPress(ask);
    };
    addEventListener(type, onAction, { capture: true });
  }
  new ResizeObserver(measure).observe(element);
  // The observer reports only if the new frame has changed the lesson's height, so this measures after each layout.
  addEventListener('resize', () => requestAnimationFrame(() => setTimeout(measure)));
  return measure;
}
