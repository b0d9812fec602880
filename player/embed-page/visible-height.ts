import { windowHeight } from '../visible-area.ts';

/** How much of the lesson a learner can see at once. */
export interface VisibleHeight {
  /** CSS pixels. */
  now(this: void): number;
  /** The page around this one knows it. */
  told(this: void, height: number): void;
}

/**
 * The height of the window, where the lesson is opened by itself or the page around it tells. A frame alone does not
 * tell, for it is made as high as the lesson: what counts then is how high it was before that.
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
    // A frame that a platform opens may be higher than the screen from the beginning.
    now: () => Math.min(height || screen.availHeight, screen.availHeight),
    told: set,
  };
}
