import type { MatchOption } from '../../../shared/lessons/scoring/matching.ts';
import { element } from '../../dom.ts';
import { safeHtml } from '../../html.ts';
import type { WidgetContext } from '../../widget.ts';
import { dragCopy, type MatchMoves } from './drag-copy.ts';

/** An answer that can be placed. */
export interface OptionButton {
  id: string;
  element: HTMLElement;
  body: HTMLElement;
  /** Whether it is right for several items. */
  isReusable: boolean;
  setSelected(isSelected: boolean): void;
}

export function optionButton(
  { id, html, uses }: MatchOption,
  context: WidgetContext,
  moves: MatchMoves & { press(button: OptionButton): void },
): OptionButton {
  const body = element('span', { class: 'lectern-option-body lectern-rich' });
  body.append(safeHtml(html, context));
  const button = element(
    'button',
    { class: 'lectern-input lectern-option', type: 'button', 'aria-pressed': 'false' },
    body,
  );
  const option: OptionButton = {
    id,
    element: button,
    body,
    isReusable: uses > 1,
    setSelected: (isSelected) => button.setAttribute('aria-pressed', String(isSelected)),
  };
  button.addEventListener('click', () => moves.press(option));
  dragCopy(button, moves, () => id);
  return option;
}
