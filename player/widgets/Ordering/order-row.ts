import { message } from '../../../shared/i18n/message.ts';
import type { OrderItem } from '../../../shared/lessons/scoring/ordering.ts';
import { element, icon } from '../../dom.ts';
import { safeHtml } from '../../html.ts';
import { makeDraggable } from '../../question/drag.ts';
import { nameOf, partMark } from '../../question/parts.ts';
import type { WidgetContext } from '../../widget.ts';

/** An item on the page, with the buttons that move it. */
export interface OrderRow {
  id: string;
  element: HTMLElement;
  body: HTMLElement;
  /** Sets the row's index, on which its buttons depend. */
  place(index: number, count: number): void;
  /** @param isRight undefined for a question that is not scored */
  lock(isRight: boolean | undefined): void;
  unlock(): void;
  focus(): void;
}

interface RowMoves {
  canDrag(): boolean;
  moveBy(row: OrderRow, steps: number): void;
  /** @param y the height of the pointer in the window */
  dragTo(row: OrderRow, y: number): void;
}

export function orderRow({ id, html }: OrderItem, context: WidgetContext, moves: RowMoves): OrderRow {
  const { language } = context;
  const body = element('div', { class: 'lectern-order-body lectern-rich' });
  body.append(safeHtml(html, context));
  const item = nameOf(body);
  const up = moveButton('up', message(language, 'ordering.up', { item }));
  const down = moveButton('down', message(language, 'ordering.down', { item }));
  const said = element('span', { class: 'lectern-part-mark' });
  const grip = element('span', { class: 'lectern-order-grip', 'aria-hidden': 'true' });
  const holder = element('li', { class: 'lectern-order-row' }, grip, body, said, up, down);

  const row: OrderRow = {
    id,
    element: holder,
    body,
    place(index, count) {
      // A disabled button would lose the focus.
      up.setAttribute('aria-disabled', String(index === 0));
      down.setAttribute('aria-disabled', String(index === count - 1));
    },
    lock(isRight) {
      holder.classList.add('lectern-is-locked');
      if (isRight !== undefined) {
        holder.classList.add(isRight ? 'lectern-is-right' : 'lectern-is-wrong');
        said.replaceChildren(...partMark(isRight, language));
      }
      up.hidden = down.hidden = true;
    },
    unlock() {
      holder.classList.remove('lectern-is-locked', 'lectern-is-right', 'lectern-is-wrong');
      said.replaceChildren();
      up.hidden = down.hidden = false;
    },
    focus: () => (up.getAttribute('aria-disabled') === 'true' ? down : up).focus(),
  };

  up.addEventListener('click', () => moves.moveBy(row, -1));
  down.addEventListener('click', () => moves.moveBy(row, 1));
  const drag = {
    canDrag: () => moves.canDrag(),
    start: () => holder.classList.add('lectern-is-dragged'),
    move: ({ clientY }: PointerEvent) => moves.dragTo(row, clientY),
    end: () => holder.classList.remove('lectern-is-dragged'),
  };
  // A finger on the text scrolls the page, so only the grip drags by touch.
  makeDraggable(grip, drag);
  makeDraggable(body, {
    ...drag,
    canDrag: () => moves.canDrag() && !matchMedia('(pointer: coarse)').matches,
  });
  return row;
}

function moveButton(direction: 'up' | 'down', label: string): HTMLButtonElement {
  return element(
    'button',
    {
      class: `lectern-order-button lectern-order-${direction}`,
      type: 'button',
      // The title names the button. With an aria-label, too, screen readers would read the name twice.
      title: label,
    },
    icon('unfold'),
  );
}
