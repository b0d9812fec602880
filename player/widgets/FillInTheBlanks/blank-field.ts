import { message } from '../../../shared/i18n/message.ts';
import { maxBlankCharacters, type Blank } from '../../../shared/lessons/scoring/fill-in-the-blanks.ts';
import { element, uniqueId } from '../../dom.ts';
import { safeHtml } from '../../html.ts';
import { record, text } from '../../props.ts';
import { hintParts } from '../../question/hint.ts';
import { partMark } from '../../question/parts.ts';
import { creditsIn } from '../../figure.ts';
import { wrappingSelect } from '../../wrapping-select.ts';
import type { WidgetContext } from '../../widget.ts';

/** A gap on the page. */
export interface BlankField extends Blank {
  element: HTMLElement;
  input: HTMLInputElement | HTMLSelectElement;
  /** Puts a saved text into the gap. */
  fill(given: string): void;
  /**
   * Locks the gap.
   *
   * @param isRight undefined for a question that is not scored
   * @param isClosed whether a wrong gap shows the right answer
   */
  mark(isRight: boolean | undefined, isClosed: boolean): void;
  /** Unlocks the gap and removes its mark. */
  open(): void;
  /** Returns the author's feedback on the gap, as at most one element. */
  feedback(isRight: boolean): HTMLElement[];
}

interface FieldOptions {
  /** Such as "Gap 1 of 3". */
  label: string;
  /** The words to choose from; undefined if the learner types. */
  words: string[] | undefined;
  characters: number;
  /** The blank as the author wrote it: `hint`, and `feedback` with `right` and `wrong`. */
  authored: Record<string, unknown>;
  context: WidgetContext;
}

export function blankField(
  blank: Blank,
  { label, words, characters, authored, context }: FieldOptions,
): BlankField {
  const { language } = context;
  const saidId = uniqueId();
  const input = words
    ? element('select', { class: 'lectern-input lectern-blank-input' }, ...['', ...words].map(option))
    : element('input', {
        class: 'lectern-input lectern-blank-input',
        type: 'text',
        size: String(characters),
        maxlength: String(maxBlankCharacters),
        autocomplete: 'off',
        autocapitalize: 'off',
        spellcheck: 'false',
        dir: 'auto',
      });
  input.setAttribute('aria-label', label);
  const said = element('span', { class: 'lectern-part-mark lectern-blank-said', id: saidId });
  const choice = input instanceof HTMLSelectElement ? wrappingSelect(input) : undefined;
  const holder = element('span', { class: 'lectern-blank' }, choice?.box ?? input, said);
  holder.append(...hintParts(authored.hint, context, label));

  function say(...content: (Node | string)[]): void {
    said.replaceChildren(...content);
    if (content.length > 0) input.setAttribute('aria-describedby', saidId);
    else input.removeAttribute('aria-describedby');
  }

  return {
    ...blank,
    element: holder,
    input,
    fill(given) {
      // Another version may have another word bank.
      if (words && given && !words.includes(given)) input.append(option(given));
      input.value = given;
      choice?.showChosen();
    },
    mark(isRight, isClosed) {
      input.disabled = true;
      if (isRight === undefined) return;
      holder.classList.add(isRight ? 'lectern-is-right' : 'lectern-is-wrong');
      const solution = isClosed && !isRight ? (blank.answers[0] ?? '') : '';
      say(...partMark(isRight, language), ...(solution ? [rightAnswer(solution, language)] : []));
    },
    open() {
      input.disabled = false;
      holder.classList.remove('lectern-is-right', 'lectern-is-wrong');
      say();
    },
    feedback(isRight) {
      const source = record(authored.feedback)[isRight ? 'right' : 'wrong'];
      if (!text(source)) return [];
      const body = element('div', { class: 'lectern-rich' });
      body.append(safeHtml(source, context), ...creditsIn([source], context));
      const title = element('p', { class: 'lectern-label' }, label);
      return [element('div', { class: 'lectern-blank-note' }, title, body)];
    },
  };
}

function option(word: string): HTMLOptionElement {
  return element('option', { value: word }, word);
}

function rightAnswer(solution: string, language: string): HTMLElement {
  return element(
    'span',
    { class: 'lectern-blank-solution' },
    element('span', { class: 'lectern-hidden-text' }, `${message(language, 'widget.rightChoice')}: `),
    element('bdi', {}, solution),
  );
}
