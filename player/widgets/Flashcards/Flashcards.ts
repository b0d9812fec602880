import { message } from '../../../shared/i18n/message.ts';
import { listOf } from '../../../shared/lessons/json-values.ts';
import type { CoreContext } from '../../define.ts';
import { defineWidget } from '../../define.ts';
import { element, icon } from '../../dom.ts';
import { creditsIn } from '../../figure.ts';
import { safeHtml } from '../../html.ts';
import { record, text } from '../../props.ts';
import { shuffled } from '../../question/shuffle.ts';

/**
 * Cards with a front and a back. Learners turn them over and say which they know; the others come again until all are
 * known. Nothing is recorded: this is practice.
 */
export default defineWidget('Flashcards', (root, { props, context }) => {
  const { language } = context;
  const given = listOf(props.cards)
    .map(record)
    .filter((card) => text(card.front));
  const cards = props.shuffle === true ? shuffled(given, text(props.id)) : given;
  if (cards.length === 0) return;

  let left = [...cards];
  let isTurned = false;
  const face = element('div', { class: 'lectern-card-face lectern-rich' });
  const hint = element('div', { class: 'lectern-card-hint lectern-rich' });
  const turn = button(message(language, 'flashcards.turn'), () => show(!isTurned));
  const showHint = button(message(language, 'widget.hint'), () =>
    hint.replaceChildren(safeHtml(hintSource(), context), ...creditsIn([hintSource()], context)),
  );
  showHint.classList.add('lectern-is-quiet');
  const again = button(message(language, 'flashcards.again'), () => sort(false));
  again.classList.add('lectern-is-quiet');
  const known = button(message(language, 'flashcards.known'), () => sort(true));
  const restart = button(message(language, 'flashcards.restart'), () => {
    left = [...cards];
    show(false);
    turn.focus();
  });
  const place = element('p', { class: 'lectern-hint lectern-card-place', role: 'status' });
  const card = element('div', { class: 'lectern-card', 'aria-live': 'polite' }, face, hint);
  root.classList.add('lectern-question');
  root.append(
    place,
    card,
    element('div', { class: 'lectern-actions' }, turn, showHint, again, known, restart),
    element(
      'div',
      { class: 'lectern-cards-on-paper' },
      ...given.flatMap(({ front, back }) =>
        [front, back].map((side) => element('div', { class: 'lectern-rich' }, ...sideOf(side, context))),
      ),
    ),
  );

  function hintSource(): string {
    return text(isTurned ? left[0]?.backHint : left[0]?.hint);
  }

  /** Shows a side of the first card that is left, or that all are known. */
  function show(turned: boolean): void {
    isTurned = turned;
    const [current] = left;
    hint.replaceChildren();
    card.classList.toggle('lectern-is-turned', turned);
    if (current === undefined) face.replaceChildren(icon('right'), message(language, 'flashcards.done'));
    else face.replaceChildren(...sideOf(turned ? current.back : current.front, context));
    place.textContent = current ? message(language, 'flashcards.left', { left: left.length }) : '';
    turn.hidden = current === undefined;
    showHint.hidden = current === undefined || !hintSource();
    again.hidden = known.hidden = !turned || current === undefined;
    turn.classList.toggle('lectern-is-quiet', turned);
    restart.hidden = current !== undefined;
  }

  /** Puts the first card aside, or behind the others. */
  function sort(isKnown: boolean): void {
    const [current, ...others] = left;
    left = isKnown || current === undefined ? others : [...others, current];
    show(false);
    (left.length === 0 ? restart : turn).focus();
  }

  show(false);
});

function sideOf(source: unknown, context: CoreContext): Node[] {
  return [safeHtml(source, context), ...creditsIn([source], context)];
}

function button(label: string, act: () => void): HTMLButtonElement {
  const made = element('button', { class: 'lectern-button', type: 'button' }, label);
  made.addEventListener('click', act);
  return made;
}
