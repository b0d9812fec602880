import { element } from '../../dom.ts';
import { safeHtml } from '../../html.ts';
import type { WidgetContext } from '../../widget.ts';
import { wordsFor } from '../../words.ts';
import type { Choice } from '../../../shared/lessons/scoring.ts';

/** What a row shows of an answered question: nothing for a choice that was not picked. */
export type Mark = 'right' | 'wrong' | undefined;

/** One choice on the page: a label around its radio button or checkbox. */
export interface ChoiceRow {
  id: string;
  row: HTMLElement;
  input: HTMLInputElement;
  mark(mark: Mark): void;
}

/**
 * @param kind `radio` when one choice is right, else `checkbox`
 * @param group the name that ties the radio buttons of one question together
 */
export function choiceRow(
  choice: Choice,
  kind: 'radio' | 'checkbox',
  group: string,
  context: WidgetContext,
): ChoiceRow {
  const input = element('input', {
    class: 'lectern-choice-input',
    type: kind,
    name: group,
    value: choice.id,
  });
  const body = element('span', { class: 'lectern-choice-body lectern-rich' });
  body.append(safeHtml(choice.html, context));
  if (!body.hasChildNodes()) body.append(choice.id);
  const verdict = element('span', { class: 'lectern-choice-verdict' });
  const row = element('label', { class: 'lectern-choice' }, input, body, verdict);
  const words = wordsFor(context.language);
  return {
    id: choice.id,
    row,
    input,
    mark(mark) {
      row.classList.toggle('lectern-is-right', mark === 'right');
      row.classList.toggle('lectern-is-wrong', mark === 'wrong');
      // In words too: colour alone tells nothing to those who cannot see it.
      verdict.textContent = mark ? words[mark === 'right' ? 'correct' : 'incorrect'] : '';
    },
  };
}
