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
