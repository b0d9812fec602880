import { message } from '../../../shared/i18n/message.ts';
import {
  orderIn,
  readOrdering,
  rightSteps,
  scoreOrdering,
} from '../../../shared/lessons/scoring/ordering.ts';
import { defineWidget } from '../../define.ts';
import { element } from '../../dom.ts';
import { text } from '../../props.ts';
import { announcer, nameOf } from '../../question/parts.ts';
import { showQuestion } from '../../question/question.ts';
import { reordered } from '../../question/shuffle.ts';
import { orderRow, type OrderRow } from './order-row.ts';

/** Items that learners put in order: by dragging, or with buttons. The initial order is never right. */
export default defineWidget('Ordering', (root, options) => {
  const { props, context } = options;
  const { language } = context;
  const { items } = readOrdering(props);

  showQuestion<string[]>(
    root,
    options,
    (answer) => scoreOrdering(props, answer),
    ({ labelledBy, describedBy }) => {
      if (items.length < 2) return undefined;
      const list = element('ol', {
        class: 'lectern-order',
        'aria-labelledby': labelledBy,
        'aria-describedby': describedBy,
      });
      const status = announcer();
      const solution = element('div', { class: 'lectern-order-solution', hidden: true });
      let rows: OrderRow[] = [];
      let isLocked = false;

      function arrange(order: OrderRow[]): void {
        rows = order;
        list.replaceChildren(...rows.map((row) => row.element));
        rows.forEach((row, index) => row.place(index, rows.length));
      }

      function move(row: OrderRow, to: number): void {
        const from = rows.indexOf(row);
        if (isLocked || to === from) return;
        const item = nameOf(row.body);
        if (to < 0) return announce(message(language, 'ordering.isFirst', { item }));
        if (to >= rows.length) return announce(message(language, 'ordering.isLast', { item }));
        const focused = document.activeElement;
        const others = rows.filter((other) => other !== row);
        arrange([...others.slice(0, to), row, ...others.slice(to)]);
        // Moving an element takes the focus from it.
        if (focused instanceof HTMLElement && row.element.contains(focused)) focused.focus();
        announce(message(language, 'ordering.moved', { item, position: to + 1, count: rows.length }));
      }

      /** Announces a text, even twice in a row: screen readers ignore a status that stays the same. */
      function announce(said: string): void {
        status.textContent = status.textContent === said ? `${said}\u00a0` : said;
      }

      const made = items.map((item) =>
        orderRow(item, context, {
          canDrag: () => !isLocked,
          moveBy: (row, steps) => move(row, rows.indexOf(row) + steps),
          dragTo: (row, y) => move(row, rowAt(rows, row, y)),
        }),
      );
      const byId = new Map(made.map((row) => [row.id, row]));
      const start = reordered(items, text(props.id), ({ html }) => html);
      arrange(start.flatMap(({ id }) => byId.get(id) ?? []));

      return {
        element: element('div', { class: 'lectern-ordering-field' }, list, solution, status),
        instruction: message(language, 'ordering.instruction'),
        askFirst: message(language, 'ordering.moveFirst'),
        read: () => rows.map(({ id }) => id),
        restore(state) {
          const order = orderIn(items, state);
          if (order !== undefined) arrange(order.flatMap((id) => byId.get(id) ?? []));
          return order !== undefined;
        },
        show(answer, { score, isClosed }) {
          isLocked = true;
          const steps = rightSteps(items, answer);
          const isFirst = rows[0]?.id === items[0]?.id || score?.score === score?.maxScore;
          // The first item alone earns nothing, so it gets no mark if nothing follows as it should.
          const right = [isFirst && !steps.includes(true) ? undefined : isFirst, ...steps];
          rows.forEach((row, index) => row.lock(score ? right[index] : undefined));
          solution.hidden = !isClosed || score === null || score.score === score.maxScore;
          if (solution.hidden) return;
          const ordered = items.map((item) => element('li', {}, nameOf(byId.get(item.id)?.body ?? root)));
          solution.replaceChildren(
            element('p', { class: 'lectern-label' }, message(language, 'ordering.rightOrder')),
            element('ol', {}, ...ordered),
          );
        },
        ruleFor: (answer) =>
          rightSteps(items, answer).includes(true) ? message(language, 'widget.allOrNothing') : undefined,
        open() {
          isLocked = false;
          solution.hidden = true;
          status.textContent = '';
          for (const row of rows) row.unlock();
        },
        retry: () => rows[0]?.focus(),
      };
    },
  );
});

/** Returns the index at which a dragged row belongs, when the pointer is at this height. */
function rowAt(rows: readonly OrderRow[], dragged: OrderRow, y: number): number {
  const others = rows.filter((row) => row !== dragged);
  const index = others.findIndex((row) => {
    const { top, height } = row.element.getBoundingClientRect();
    return y < top + height / 2;
  });
  return index < 0 ? others.length : index;
}
