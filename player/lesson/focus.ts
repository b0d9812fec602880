const FOCUSABLE =
  'a[href], button, input, select, textarea, summary, audio[controls], video[controls], iframe, [tabindex]';

/** What has the focus on the page, or in the shadow tree, that the element is in. */
export function activeElement(near: Node): Element | null {
  return (near.getRootNode() as Document | ShadowRoot).activeElement;
}

/**
 * Remembers the control that has the focus in an element.
 *
 * @returns gives the focus to the control that stands at its place, after the content was made anew
 */
export function rememberFocus(holder: HTMLElement): () => void {
  const active = activeElement(holder);
  if (active === null || !holder.contains(active)) return () => undefined;
  const place = controls(holder).indexOf(active);
  return () => {
    const control = controls(holder)[Math.max(0, place)];
    if (control instanceof HTMLElement) control.focus({ preventScroll: true });
  };
}

/**
 * Has the field that is being edited report its value, as it would when it loses the focus: its `change` event does
 * not come by itself when a script takes the field away.
 */
export function reportEditedField(holder: HTMLElement): void {
  const active = activeElement(holder);
  if (active === null || !holder.contains(active)) return;
  if (active.matches('input:not([type=radio], [type=checkbox]), textarea, select')) {
    active.dispatchEvent(new Event('change', { bubbles: true }));
  }
}

function controls(holder: HTMLElement): Element[] {
  return [...holder.querySelectorAll(FOCUSABLE)].filter((control) => !control.matches(':disabled'));
}
