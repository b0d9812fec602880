import { measured, probed } from './content-height.ts';
import type { FrameHeight } from './content-height.ts';

/** Milliseconds without a change after which a height that is in doubt is probed: until then a picture may load. */
const quietTime = 100;

/**
 * Watches how high an element is, and tells how high the frame is to be.
 *
 * @param tell given CSS pixels whenever they are others
 */
export function followHeight(element: HTMLElement, tell: (height: number) => void): void {
  let height: FrameHeight | undefined;
  let told: number | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;

  function set(next: FrameHeight): void {
    height = next;
    const asked = Math.ceil(next.asked);
    if (asked !== told) tell(asked);
    told = asked;
  }

  function measure(): void {
    const next = measured(height, element.getBoundingClientRect().height, innerHeight);
    if (next === height) return;
    set(next);
    clearTimeout(timer);
    if (next.held) timer = setTimeout(() => set(probed(next)), quietTime);
  }

  new ResizeObserver(measure).observe(element);
  // When the lesson has been laid out in the new frame: the observer is called only where that has changed it.
  addEventListener('resize', () => requestAnimationFrame(() => setTimeout(measure)));
}
