import { windowHeight } from '../visible-area.ts';

/** The height of the visible part of the lesson, in CSS pixels. */
export interface VisibleHeight {
  now(this: void): number;
  /** Sets it to the height that the host page reports. */
  set(this: void, height: number): void;
}

/**
 * Watches the visible height: the window's, if this page is not framed or the host page reports it. A frame is as high
 * as its lesson, so its own height says nothing: until the host reports one, its first height counts.
 */
export function visibleHeight(onChange: () => void): VisibleHeight {
  const isFramed = parent !== window;
  let height = windowHeight();

  function set(next: number): void {
    if (next === height) return;
    height = next;
    onChange();
  }

  if (!isFramed) addEventListener('resize', () => set(windowHeight()));
  return {
    // A platform may open a frame that is higher than the screen.
    now: () => Math.min(height || screen.availHeight, screen.availHeight),
    set,
  };
}
