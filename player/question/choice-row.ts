import { element, icon, uniqueId } from '../dom.ts';
import { richText, safeHtml, textWithFormulas } from '../html.ts';
import type { CoreContext } from '../define.ts';
import { creditsIn } from '../figure.ts';
import { hintParts } from './hint.ts';
import { nameOf } from './parts.ts';
import type { Choice } from '../../shared/lessons/scoring/multiple-choice.ts';
import { message } from '../../shared/i18n/message.ts';

/**
 * The mark of a choice after an answer. `picked` is for questions without right and wrong choices. A choice that was not
 * selected is `missed` if it is shown as a right one, otherwise `left`.
 */
export type Mark = 'right' | 'wrong' | 'picked' | 'missed' | 'left';

/** A choice on the page: its radio button or checkbox with a label, and the author's feedback on it. */
export interface ChoiceRow {
  id: string;
  row: HTMLElement;
  input: HTMLInputElement;
  /** Shows a mark; none removes it. */
  mark(mark?: Mark): void;
}

/**
 * @param choice with an author's HTML, or with a plain text
 * @param kind `radio` for a single choice, otherwise `checkbox`
 * @param group the shared name of the radio buttons of a question
 */
export function choiceRow(
  choice: Choice | { id: string; text: string },
  kind: 'radio' | 'checkbox',
  group: string,
  context: CoreContext,
): ChoiceRow {
  const { language } = context;
  const verdicts = {
    right: message(language, 'widget.correct'),
    wrong: message(language, 'widget.incorrect'),
    picked: '',
    missed: message(language, 'widget.rightChoice'),
    left: '',
  };
  const input = element('input', {
    class: 'lectern-choice-input',
    type: kind,
    name: group,
    value: choice.id,
  });
  const body = element('span', { class: 'lectern-choice-body lectern-rich' });
  body.append('text' in choice ? textWithFormulas(choice.text, context) : safeHtml(choice.html, context));
  if (!body.hasChildNodes()) body.append(choice.id);
  const said = element('span', { class: 'lectern-choice-verdict' });
  const row = element(
    'div',
    { class: 'lectern-choice' },
    element('label', { class: 'lectern-choice-label' }, input, body, said),
  );
  const chosen = 'text' in choice ? undefined : feedbackOf(choice.feedback, context);
  const notChosen = 'text' in choice ? undefined : feedbackOf(choice.notChosenFeedback, context);
  if ('hint' in choice) row.append(...hintParts(choice.hint, context, nameOf(body)));
  return {
    id: choice.id,
    row,
    input,
    mark(mark) {
      row.className = mark ? `lectern-choice lectern-is-${mark}` : 'lectern-choice';
      // As text and icon, because some learners cannot see the color.
      const verdict = mark && verdicts[mark];
      said.replaceChildren(...(verdict ? [icon(mark === 'wrong' ? 'wrong' : 'right'), verdict] : []));
      chosen?.remove();
      notChosen?.remove();
      input.removeAttribute('aria-describedby');
      const feedback = mark === 'missed' || mark === 'left' ? notChosen : chosen;
      if (mark === undefined || feedback === undefined) return;
      row.append(feedback);
      input.setAttribute('aria-describedby', feedback.id);
    },
  };
}

function feedbackOf(source: string, context: CoreContext): HTMLElement | undefined {
  const feedback = richText(source, context);
  if (feedback === undefined) return undefined;
  feedback.append(...creditsIn([source], context));
  feedback.id = uniqueId();
  feedback.classList.add('lectern-choice-feedback');
  return feedback;
}
