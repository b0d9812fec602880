/** How long changes wait after an event: a press ends with a click, which follows its pointerup. */
const pressMs = { pointerdown: 1000, pointerup: 100, pointercancel: 0, click: 0 };

/**
 * Returns a function that makes a change at once, or after the press in progress. If the pressed button moved away, the
 * browser would drop the click. Only the last of several changes is made.
 */
export function pressGuard(): (change: () => void) => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let waiting: (() => void) | undefined;
  const release = () => {
    clearTimeout(timer);
    timer = undefined;
    const change = waiting;
    waiting = undefined;
    change?.();
  };
  for (const [type, ms] of Object.entries(pressMs)) {
    const onEvent = () => {
      clearTimeout(timer);
      if (ms === 0) release();
      else timer = setTimeout(release, ms);
    };
    addEventListener(type, onEvent, { capture: true });
  }
  return (change) => {
    if (timer === undefined) change();
    else waiting = change;
  };
}
