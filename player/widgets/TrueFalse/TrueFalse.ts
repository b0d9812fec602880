import { message } from '../../../shared/i18n/message.ts';
import { readTrueFalse, scoreTrueFalse } from '../../../shared/lessons/scoring/true-false.ts';
import { defineWidget } from '../../define.ts';
import { element, uniqueId } from '../../dom.ts';
import { text } from '../../props.ts';
import { checkOnEnter, showQuestion } from '../../question/question.ts';
import { choiceRow } from '../MultipleChoice/choice-row.ts';

/** A statement that is true or false. */
export default defineWidget(
  'TrueFalse',
  (root, options) => {
    const { props, context } = options;
    const { language } = context;
    const { correct } = readTrueFalse(props);

    showQuestion<boolean>(
      root,
      options,
      (answer) => scoreTrueFalse(props, answer),
      ({ labelledBy, describedBy }, view) => {
        const group = uniqueId();
        const rows = [true, false].map((value) => {
          const name = value ? text(props.trueLabel) : text(props.falseLabel);
          const label = name || message(language, value ? 'widget.true' : 'widget.false');
          const row = choiceRow({ id: String(value), text: label }, 'radio', group, context);
          checkOnEnter(row.input, view);
          return { ...row, value };
        });
        return {
          element: element(
            'div',
            {
              class: 'lectern-choices',
              role: 'radiogroup',
              'aria-labelledby': labelledBy,
              'aria-describedby': describedBy,
            },
            ...rows.map(({ row }) => row),
          ),
          instruction: message(language, 'widget.chooseOne'),
          askFirst: message(language, 'widget.chooseFirst'),
          read: () => rows.find(({ input }) => input.checked)?.value,
          restore(state) {
            for (const { input, value } of rows) input.checked = value === state;
            return typeof state === 'boolean';
          },
          show(answer, { score, isClosed }) {
            for (const row of rows) {
              row.input.disabled = true;
              if (row.value === answer)
                row.mark(!score ? 'picked' : row.value === correct ? 'right' : 'wrong');
              else row.mark(score && row.value === correct && isClosed ? 'missed' : undefined);
            }
          },
          open() {
            for (const row of rows) {
              row.input.disabled = false;
              row.mark();
            }
          },
          retry(isScored) {
            if (isScored) for (const { input } of rows) input.checked = false;
            (rows.find(({ input }) => input.checked) ?? rows[0])?.input.focus();
          },
        };
      },
    );
  },
  { plainProps: ['trueLabel', 'falseLabel'] },
);
