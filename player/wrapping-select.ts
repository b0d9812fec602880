import { element } from './dom.ts';

/**
 * Puts an element over a select that shows the chosen text, in several lines if need be, because browsers cut the text of a
 * select.
 *
 * @returns the element with both, and a function to call after the select was changed by a script
 */
export function wrappingSelect(select: HTMLSelectElement): { box: HTMLElement; showChosen: () => void } {
  select.classList.add('lectern-select-field');
  const chosen = element('span', { class: 'lectern-select-chosen', 'aria-hidden': 'true' });
  const showChosen = () => chosen.replaceChildren(select.selectedOptions[0]?.text ?? '');
  for (const type of ['input', 'change']) select.addEventListener(type, showChosen);
  showChosen();
  return { box: element('span', { class: 'lectern-select' }, select, chosen), showChosen };
}
