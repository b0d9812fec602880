/** Measures the active time on each step. */
export interface ActiveTime {
  /** Counts the time for another step from now on; undefined for the end of the lesson. */
  enter(this: void, stepId: string | undefined): void;
}

/** Without a sign of activity for this long, the clock stops: the learner may have gone away. */
const idleMs = 60_000;
/** The interval of reports. A page that is closed loses the time since the last one. */
const reportMs = 5000;

const inputs = ['pointerdown', 'pointermove', 'keydown', 'wheel', 'scroll', 'touchmove', 'focus'] as const;

/**
 * Measures how long the learner is active on the step that is shown. The clock runs until a minute after the last input,
 * while the page is visible and the learner has not switched to another window. Media that play in a page with the focus
 * count as input.
 *
 * @param isCovered returns whether the cover hides the step.
 */
export function measureActiveTime(
  isCovered: () => boolean,
  report: (stepId: string, activeMs: number) => void,
): ActiveTime {
  let step: string | undefined;
  let activeMs = 0;
  let countedAt = performance.now();
  let idleAt = countedAt + idleMs;

  function count(): void {
    const now = performance.now();
    activeMs += Math.max(0, Math.min(now, idleAt) - countedAt);
    countedAt = now;
  }

  function send(): void {
    count();
    if (step !== undefined && activeMs > 0 && !isCovered()) report(step, activeMs);
    activeMs = 0;
  }

  function act(): void {
    if (document.hidden) return;
    count();
    idleAt = countedAt + idleMs;
  }

  function rest(): void {
    count();
    idleAt = 0;
  }

  const options = { capture: true, passive: true };
  for (const input of inputs) addEventListener(input, act, options);
  const playing = () => {
    if (document.hasFocus()) act();
  };
  // Media events do not bubble.
  addEventListener('timeupdate', playing, options);
  // Runs before the click changes the step or the answer, so that the next write has the time.
  addEventListener('click', send, options);
  document.addEventListener('visibilitychange', () => (document.hidden ? rest() : act()));
  addEventListener('blur', () => {
    // The focus may have moved to a frame inside this page.
    setTimeout(() => !document.hasFocus() && rest());
  });
  // The page saves when it is hidden, and reports the rest when the learner returns.
  setInterval(() => !document.hidden && send(), reportMs);
  return {
    enter(stepId) {
      send();
      step = stepId;
    },
  };
}
