import { message } from '../../../shared/i18n/message.ts';
import { matchIn, readMatching, scoreMatching } from '../../../shared/lessons/scoring/matching.ts';
import { defineWidget } from '../../define.ts';
import { element } from '../../dom.ts';
import { text } from '../../props.ts';
import { announcer, nameOf } from '../../question/parts.ts';
import { showQuestion } from '../../question/question.ts';
import { shuffled } from '../../question/shuffle.ts';
import { optionButton, type OptionButton } from './option-button.ts';
import { matchSlot, type MatchSlot } from './match-slot.ts';

/**
 * Items with a place for the match of each. Learners drag answers to their places, or select an answer and then its
 * place, in any order, by tap or keyboard.
 */
export default defineWidget('Matching', (root, options) => {
  const { props, context } = options;
  const { language } = context;
  const question = readMatching(props);

  showQuestion<Record<string, string>>(
    root,
    options,
    (answer) => scoreMatching(props, answer),
    ({ labelledBy, describedBy }) => {
      if (question.items.length === 0) return undefined;
      const status = announcer();
      let selected: OptionButton | MatchSlot | undefined;
      let isLocked = false;

      const moves = {
        canMove: () => !isLocked,
        drop(optionId: string, x: number, y: number) {
          const target = document.elementFromPoint(x, y);
          const slot = slots.find(({ element: holder }) => holder.contains(target));
          if (slot) place(slot, optionId);
          else remove(optionId);
        },
      };
      const buttons = shuffled(question.options, text(props.id)).map((option) =>
        optionButton(option, context, { ...moves, press: pressOption }),
      );
      const optionOf = (id: string | undefined) => buttons.find((button) => button.id === id);
      const slots = question.items.map((item) =>
        matchSlot(item, context, { ...moves, press: pressSlot, contentOf: (id) => optionOf(id)?.body }),
      );

      function select(part: OptionButton | MatchSlot | undefined): void {
        selected?.setSelected(false);
        selected = part;
        part?.setSelected(true);
      }

      function pressOption(button: OptionButton): void {
        const target = selected;
        select(undefined);
        if (target === button) return;
        if (target && 'chosen' in target) {
          place(target, button.id);
          // The button may be gone now.
          target.focus();
        } else {
          select(button);
          status.textContent = message(language, 'matching.selected', { option: nameOf(button.body) });
        }
      }

      function pressSlot(slot: MatchSlot): void {
        const source = selected;
        select(undefined);
        if (source && 'body' in source && !('chosen' in source)) return place(slot, source.id);
        if (source === slot) return;
        if (slot.chosen === undefined) return select(slot);
        // A click on a filled place takes the answer up again.
        const taken = optionOf(slot.chosen);
        remove(slot.chosen, slot);
        if (taken) select(taken);
      }

      function place(slot: MatchSlot, optionId: string): void {
        const option = optionOf(optionId);
        if (option === undefined) return;
        // Most answers have one place; those that fit several pairs stay available.
        if (!option.isReusable)
          for (const other of slots) if (other.chosen === optionId) other.choose(undefined);
        slot.choose(optionId);
        select(undefined);
        update();
        status.textContent = message(language, 'matching.placed', {
          item: nameOf(slot.body),
          option: nameOf(option.body),
        });
      }

      function remove(optionId: string, from?: MatchSlot): void {
        const option = optionOf(optionId);
        const holding = slots.filter((slot) => slot.chosen === optionId && (from ?? slot) === slot);
        if (holding.length === 0 || option === undefined) return;
        for (const slot of holding) slot.choose(undefined);
        update();
        status.textContent = message(language, 'matching.removed', { option: nameOf(option.body) });
      }

      /** Hides answers that have their place. */
      function update(): void {
        const used = new Set(slots.map(({ chosen }) => chosen));
        for (const button of buttons)
          button.element.hidden = isLocked || (!button.isReusable && used.has(button.id));
        pool.hidden = buttons.every((button) => button.element.hidden);
      }

      const pool = element(
        'div',
        { class: 'lectern-options', role: 'group', 'aria-label': message(language, 'matching.options') },
        ...buttons.map((button) => button.element),
      );
      update();
      return {
        element: element(
          'div',
          {
            class: 'lectern-matching-field',
            role: 'group',
            'aria-labelledby': labelledBy,
            'aria-describedby': describedBy,
          },
          element('ul', { class: 'lectern-pairs' }, ...slots.map((slot) => slot.element)),
          pool,
          status,
        ),
        instruction: message(language, 'matching.instruction'),
        askFirst: message(language, 'matching.matchFirst'),
        read() {
          const chosen = slots.flatMap((slot) => (slot.chosen === undefined ? [] : [[slot.id, slot.chosen]]));
          return chosen.length === 0 ? undefined : (Object.fromEntries(chosen) as Record<string, string>);
        },
        restore(state) {
          for (const slot of slots) slot.choose(optionOf(matchIn(question.items, state, slot.id))?.id);
          update();
          return slots.some(({ chosen }) => chosen !== undefined);
        },
        show(answer, { score, isClosed }) {
          isLocked = true;
          select(undefined);
          for (const slot of slots) {
            const isRight = matchIn(question.items, answer, slot.id) === slot.match;
            slot.lock(score ? isRight : undefined, isClosed ? optionOf(slot.match)?.body : undefined);
          }
          update();
        },
        ruleFor: (answer) =>
          question.items.some(({ id, match }) => matchIn(question.items, answer, id) === match)
            ? message(language, 'widget.allOrNothing')
            : undefined,
        open() {
          isLocked = false;
          for (const slot of slots) slot.unlock();
          update();
        },
        retry(isScored) {
          // What is right stays, so that learners only correct the rest.
          if (isScored) for (const slot of slots) if (slot.chosen !== slot.match) slot.choose(undefined);
          update();
          (slots.find(({ chosen }) => chosen === undefined) ?? slots[0])?.focus();
        },
      };
    },
  );
});
