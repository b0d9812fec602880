import { measured, probed } from './content-height.ts';
import type { FrameHeight } from './content-height.ts';
import { grown, pauseOf } from './growth.ts';
import type { Growth } from './growth.ts';

/** Milliseconds without a change after which a height that is in doubt is probed: until then a picture may load. */
const quietTime = 100;

/**
 * Watches how high an element is, and tells how high the frame is to be.
 *
 * @param tell given CSS pixels whenever they are others
 */
export function followHeight(element: HTMLElement, tell: (height: number) => void): void {
  let height: FrameHeight | undefined;
  let told: Growth | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let later: ReturnType<typeof setTimeout> | undefined;

  function set(next: FrameHeight): void {
    height = next;
    clearTimeout(later);
    const asked = Math.ceil(next.asked);
    if (asked === told?.height) return;
    const pause = told && asked > told.height ? told.at + pauseOf(told) - Date.now() : 0;
    if (pause <= 0) ask(asked);
    else if (pause < Infinity) later = setTimeout(() => ask(asked), pause);
  }

  function ask(asked: number): void {
    told = grown(told, asked, Date.now());
    tell(asked);
  }

  /** What the learner does may make the lesson higher, as often as it likes. */
  function forgive(): void {
    if (told) told = { ...told, echoes: 0 };
    if (height) set(height);
  }

  function measure(): void {
    const next = measured(height, element.getBoundingClientRect().height, innerHeight);
    if (next === height) return;
    set(next);
    clearTimeout(timer);
    if (next.held) timer = setTimeout(() => set(probed(next)), quietTime);
  }

  for (const type of ['pointerdown', 'keydown']) addEventListener(type, forgive, { capture: true });
  new ResizeObserver(measure).observe(element);
  // When the lesson has been laid out in the new frame: the observer is called only where that has changed it.
  addEventListener('resize', () => requestAnimationFrame(() => setTimeout(measure)));
}
