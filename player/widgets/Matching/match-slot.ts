import { message } from '../../../shared/i18n/message.ts';
import type { MatchItem } from '../../../shared/lessons/scoring/matching.ts';
import { element, uniqueId } from '../../dom.ts';
import { safeHtml } from '../../html.ts';
import { partMark } from '../../question/parts.ts';
import type { WidgetContext } from '../../widget.ts';
import { dragCopy, type MatchMoves } from './drag-copy.ts';

/** An item, and the place for its match. */
export interface MatchSlot {
  id: string;
  /** The id of the right option. */
  match: string;
  element: HTMLElement;
  /** The item's text. */
  body: HTMLElement;
  /** The id of the placed option. */
  readonly chosen: string | undefined;
  choose(optionId: string | undefined): void;
  setSelected(isSelected: boolean): void;
  /**
   * @param isRight undefined for a question that is not scored
   * @param solution the right option, shown if another one was chosen
   */
  lock(isRight: boolean | undefined, solution: HTMLElement | undefined): void;
  unlock(): void;
  focus(): void;
}

interface SlotMoves extends MatchMoves {
  press(slot: MatchSlot): void;
  contentOf(optionId: string): HTMLElement | undefined;
}

export function matchSlot(item: MatchItem, context: WidgetContext, moves: SlotMoves): MatchSlot {
  const { language } = context;
  const [itemId, slotId, saidId] = [uniqueId(), uniqueId(), uniqueId()];
  const body = element('div', { class: 'lectern-pair-item lectern-rich', id: itemId });
  body.append(safeHtml(item.html, context));
  const button = element('button', {
    class: 'lectern-input lectern-pair-slot',
    type: 'button',
    id: slotId,
    'aria-labelledby': `${itemId} ${slotId}`,
    'aria-describedby': saidId,
    'aria-pressed': 'false',
  });
  const said = element('span', { class: 'lectern-part-mark lectern-pair-said', id: saidId });
  const holder = element('li', { class: 'lectern-pair' }, body, button, said);
  let chosen: string | undefined;

  const slot: MatchSlot = {
    id: item.id,
    match: item.match,
    element: holder,
    body,
    get chosen() {
      return chosen;
    },
    choose(optionId) {
      chosen = optionId;
      const content = optionId === undefined ? undefined : moves.contentOf(optionId)?.cloneNode(true);
      const empty = element('span', { class: 'lectern-hidden-text' }, message(language, 'matching.empty'));
      button.replaceChildren(content ?? empty);
      button.classList.toggle('lectern-is-filled', content !== undefined);
    },
    setSelected: (isSelected) => button.setAttribute('aria-pressed', String(isSelected)),
    lock(isRight, solution) {
      button.disabled = true;
      if (isRight === undefined) return;
      holder.classList.add(isRight ? 'lectern-is-right' : 'lectern-is-wrong');
      said.replaceChildren(...partMark(isRight, language));
      if (isRight || solution === undefined) return;
      const label = element(
        'span',
        { class: 'lectern-hidden-text' },
        `${message(language, 'widget.rightChoice')}: `,
      );
      said.append(element('span', { class: 'lectern-pair-solution' }, label, solution.cloneNode(true)));
    },
    unlock() {
      button.disabled = false;
      holder.classList.remove('lectern-is-right', 'lectern-is-wrong');
      said.replaceChildren();
    },
    focus: () => button.focus(),
  };
  slot.choose(undefined);
  button.addEventListener('click', () => moves.press(slot));
  dragCopy(button, moves, () => chosen);
  return slot;
}
