import { element } from '../dom.ts';
import { missingMedium } from '../figure.ts';

/** What stands in the place of a block, or of the whole lesson, that cannot be shown. */
export function notice(message: string, detail = ''): HTMLElement {
  return element('div', { class: 'lectern-block lectern-notice' }, missingMedium(message, detail));
}
