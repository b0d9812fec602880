const focusable =
  'a[href], button, input, select, textarea, summary, audio[controls], video[controls], iframe, [tabindex]';

/** Returns the element that has the focus, in the page or shadow tree of this node. */
export function activeElement(near: Node): Element | null {
  return (near.getRootNode() as Document | ShadowRoot).activeElement;
}

/**
 * Remembers which control in an element has the focus.
 *
 * @returns a function that focuses the control at the same position after the content was replaced
 */
export function rememberFocus(holder: HTMLElement): () => void {
  const active = activeElement(holder);
  if (active === null || !holder.contains(active)) return () => undefined;
  const position = controls(holder).indexOf(active);
  return () => {
    const control = controls(holder)[Math.max(0, position)];
    if (control instanceof HTMLElement) control.focus({ preventScroll: true });
  };
}

/** How long widgets of a lesson that is mounted again may take to show a control. */
const mountMs = 3000;

/**
 * Remembers which control in a lesson has the focus, before the lesson is mounted again.
 *
 * @returns a function that focuses the same control of the new lesson as soon as it is there, or else its block, unless
 * the learner has focused something else
 */
export function rememberPlace(lesson: HTMLElement): () => void {
  const active = activeElement(lesson);
  if (active === null || !lesson.contains(active)) return () => undefined;
  const slot = active.closest('.lectern-slot');
  const slotIndex = slot ? slotsOf(lesson).indexOf(slot) : -1;
  const position = placesIn(lesson, slot).indexOf(active);

  function restore(): boolean {
    const now = activeElement(lesson);
    if (now !== null && now !== active && lesson.contains(now)) return true;
    const newSlot = slot && (slotsOf(lesson)[slotIndex] ?? null);
    const control = placesIn(lesson, newSlot)[position];
    if (!(control instanceof HTMLElement)) return false;
    if (!control.matches(':disabled')) control.focus({ preventScroll: true });
    else if (newSlot instanceof HTMLElement) focusBlock(newSlot);
    return true;
  }

  return () => {
    if (restore()) return;
    const stop = () => {
      observer.disconnect();
      clearTimeout(timer);
    };
    const observer = new MutationObserver(() => restore() && stop());
    observer.observe(lesson, { childList: true, subtree: true });
    const timer = setTimeout(() => {
      stop();
      const now = activeElement(lesson);
      const newSlot = slotsOf(lesson)[slotIndex];
      if (newSlot instanceof HTMLElement && (now === null || !lesson.contains(now))) focusBlock(newSlot);
    }, mountMs);
  };
}

/** Focuses a block, only until it loses the focus: a press beside a control must not focus it. */
export function focusBlock(slot: HTMLElement): void {
  slot.tabIndex = -1;
  slot.addEventListener('blur', () => slot.removeAttribute('tabindex'), { once: true });
  slot.focus({ preventScroll: true });
}

function slotsOf(lesson: HTMLElement): Element[] {
  return [...lesson.querySelectorAll('.lectern-slot')];
}

/** Returns the controls of a block, or for null those around the blocks. */
function placesIn(lesson: HTMLElement, slot: Element | null): Element[] {
  return [...lesson.querySelectorAll(focusable)].filter((place) => place.closest('.lectern-slot') === slot);
}

/**
 * Makes the edited field report its value, as when it loses the focus. Browsers fire no `change` event when a script
 * removes the field.
 */
export function reportEditedField(holder: HTMLElement): void {
  const active = activeElement(holder);
  if (active === null || !holder.contains(active)) return;
  if (active.matches('input:not([type=radio], [type=checkbox]), textarea, select')) {
    active.dispatchEvent(new Event('change', { bubbles: true }));
  }
}

function controls(holder: HTMLElement): Element[] {
  return [...holder.querySelectorAll(focusable)].filter((control) => !control.matches(':disabled'));
}
