import { element, icon, uniqueId } from '../../dom.ts';
import { richText, safeHtml } from '../../html.ts';
import type { WidgetContext } from '../../widget.ts';
import type { Choice } from '../../../shared/lessons/multiple-choice.ts';
import { message } from '../../../shared/i18n/message.ts';

/**
 * What a row says of an answered question. `picked` is for questions where nothing is right or wrong, `missed` for a
 * right choice that was not picked.
 */
export type Mark = 'right' | 'wrong' | 'picked' | 'missed';

/** One choice on the page: a label around its radio button or checkbox, and what the author says about it. */
export interface ChoiceRow {
  id: string;
  row: HTMLElement;
  input: HTMLInputElement;
  /** Without a mark: as before the answer. */
  mark(mark?: Mark): void;
}

/**
 * @param kind `radio` when one choice is to be picked, else `checkbox`
 * @param group the name that ties the radio buttons of one question together
 */
export function choiceRow(
  choice: Choice,
  kind: 'radio' | 'checkbox',
  group: string,
  context: WidgetContext,
): ChoiceRow {
  const { language } = context;
  const verdicts = {
    right: message(language, 'widget.correct'),
    wrong: message(language, 'widget.incorrect'),
    picked: '',
    missed: message(language, 'widget.rightChoice'),
  };
  const input = element('input', {
    class: 'lectern-choice-input',
    type: kind,
    name: group,
    value: choice.id,
  });
  const body = element('span', { class: 'lectern-choice-body lectern-rich' });
  body.append(safeHtml(choice.html, context));
  if (!body.hasChildNodes()) body.append(choice.id);
  const said = element('span', { class: 'lectern-choice-verdict' });
  const row = element(
    'div',
    { class: 'lectern-choice' },
    element('label', { class: 'lectern-choice-label' }, input, body, said),
  );
  const feedback = richText(choice.feedback, context);
  if (feedback) {
    feedback.id = uniqueId();
    feedback.classList.add('lectern-choice-feedback');
  }
  return {
    id: choice.id,
    row,
    input,
    mark(mark) {
      row.className = mark ? `lectern-choice lectern-is-${mark}` : 'lectern-choice';
      // In words and a sign: color alone tells nothing to those who cannot see it.
      const verdict = mark && verdicts[mark];
      said.replaceChildren(...(verdict ? [icon(mark === 'wrong' ? 'wrong' : 'right'), verdict] : []));
      if (!feedback) return;
      if (mark === undefined || mark === 'missed') {
        feedback.remove();
        input.removeAttribute('aria-describedby');
      } else {
        row.append(feedback);
        input.setAttribute('aria-describedby', feedback.id);
      }
    },
  };
}
