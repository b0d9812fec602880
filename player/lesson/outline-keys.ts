import { isComposing } from '../dom.ts';
import { activeElement } from './focus.ts';

/**
 * Moves the focus between the entries of an outline with the arrow keys, Home and End, past folded sections. Tab keeps
 * its usual behavior.
 */
export function moveFocusByKeys(nav: HTMLElement): void {
  nav.addEventListener('keydown', (event) => {
    const { key, altKey, ctrlKey, metaKey, shiftKey } = event;
    if (altKey || ctrlKey || metaKey || shiftKey || isComposing(event)) return;
    const entries = [...nav.querySelectorAll<HTMLElement>('summary, button')].filter(
      (entry) => entry.getClientRects().length > 0 && !entry.matches('details:not([open]) > :not(summary) *'),
    );
    const active = activeElement(nav);
    const index = entries.findIndex((entry) => entry === active);
    const isInField = active instanceof HTMLInputElement;
    const target = targetOf(key, index, entries.length, isInField);
    if (target === undefined) return;
    event.preventDefault();
    entries[target]?.focus();
  });
}

/** Returns the index of the entry that gets the focus; undefined if the key moves nothing. */
function targetOf(key: string, index: number, count: number, isInField: boolean): number | undefined {
  if (key === 'ArrowDown') return Math.min(index + 1, count - 1);
  // In a text field, the other keys move the cursor.
  if (isInField || index < 0) return undefined;
  if (key === 'ArrowUp') return Math.max(index - 1, 0);
  if (key === 'Home') return 0;
  return key === 'End' ? count - 1 : undefined;
}
