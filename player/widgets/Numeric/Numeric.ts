import { message } from '../../../shared/i18n/message.ts';
import { readNumeric, scoreNumeric } from '../../../shared/lessons/scoring/numeric.ts';
import { defineWidget } from '../../define.ts';
import { element, uniqueId } from '../../dom.ts';
import { text } from '../../props.ts';
import { partMark } from '../../question/parts.ts';
import { checkOnEnter, showQuestion } from '../../question/question.ts';
import { parseNumber, writeNumber } from './parse-number.ts';

/** A question that learners answer with a number. */
export default defineWidget(
  'Numeric',
  (root, options) => {
    const { props, context } = options;
    const { language } = context;
    const { correct } = readNumeric(props);
    const unit = text(props.unit);

    showQuestion<number>(
      root,
      options,
      (answer) => scoreNumeric(props, answer),
      ({ labelledBy, describedBy }, view) => {
        const unitText = element('bdi', { class: 'lectern-number-unit', id: uniqueId() }, unit);
        const input = element('input', {
          class: 'lectern-input lectern-number-input',
          type: 'text',
          inputmode: 'text',
          maxlength: '40',
          size: '12',
          autocomplete: 'off',
          'aria-labelledby': labelledBy,
          'aria-describedby': [describedBy, unit && unitText.id].filter(Boolean).join(' ') || undefined,
        });
        checkOnEnter(input, view);
        const said = element('span', { class: 'lectern-part-mark lectern-number-said' });
        const row = element('div', { class: 'lectern-number' }, input);
        if (unit) row.append(unitText);
        row.append(said);
        /** The number in the field: its text may have fewer digits. */
        let written: { text: string; value: number } | undefined;
        function write(value: number): void {
          input.value = writeNumber(value, language);
          written = { text: input.value, value };
        }
        const withUnit = (value: number) =>
          [writeNumber(value, language), unit].filter(Boolean).join('\u00a0');

        return {
          element: row,
          instruction: message(language, 'numeric.instruction'),
          askFirst: message(language, 'numeric.numberFirst', { example: writeNumber(12.5, language) }),
          read: () =>
            input.value === written?.text ? written.value : parseNumber(input.value, language, unit),
          restore(state) {
            if (typeof state !== 'number') return false;
            write(state);
            return true;
          },
          show(answer, { score, isClosed }) {
            // As it was read, without the unit that follows.
            write(answer);
            input.disabled = true;
            if (!score) return;
            const isRight = score.score === score.maxScore;
            row.classList.add(isRight ? 'lectern-is-right' : 'lectern-is-wrong');
            const solution = isClosed && !isRight && correct !== undefined ? withUnit(correct) : '';
            said.replaceChildren(
              ...partMark(isRight, language),
              solution && message(language, 'numeric.rightAnswer', { answer: solution }),
            );
          },
          open() {
            input.disabled = false;
            row.classList.remove('lectern-is-right', 'lectern-is-wrong');
            said.replaceChildren();
          },
          retry() {
            input.focus();
            input.select();
          },
        };
      },
    );
  },
  { plainProps: ['unit'] },
);
