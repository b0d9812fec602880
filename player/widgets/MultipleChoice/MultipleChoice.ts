import { defineWidget } from '../../define.ts';
import { element, uniqueId } from '../../dom.ts';
import { checkOnEnter, showQuestion } from '../../question/question.ts';
import { readQuestion, scoreMultipleChoice } from '../../../shared/lessons/scoring/multiple-choice.ts';
import { choiceRow } from './choice-row.ts';
import { message } from '../../../shared/i18n/message.ts';

/** A question with one choice to select (radio buttons) or several (checkboxes). */
export default defineWidget('MultipleChoice', (root, options) => {
  const { props, context } = options;
  const question = readQuestion(props);
  const several = question.correct.length > 1 || props.multiple === true;

  showQuestion<string[]>(
    root,
    options,
    (answer) => scoreMultipleChoice(props, answer),
    ({ labelledBy, describedBy }, view) => {
      if (question.choices.length === 0) return undefined;
      const group = uniqueId();
      const rows = question.choices.map((choice) =>
        choiceRow(choice, several ? 'checkbox' : 'radio', group, context),
      );
      for (const { input } of rows) checkOnEnter(input, view);

      return {
        element: element(
          'div',
          {
            class: 'lectern-choices',
            role: several ? 'group' : 'radiogroup',
            'aria-labelledby': labelledBy,
            'aria-describedby': describedBy,
          },
          ...rows.map(({ row }) => row),
        ),
        instruction: message(context.language, several ? 'widget.chooseSeveral' : 'widget.chooseOne'),
        askFirst: message(context.language, 'widget.chooseFirst'),
        read() {
          const picked = rows.filter(({ input }) => input.checked).map(({ id }) => id);
          return picked.length === 0 ? undefined : picked;
        },
        restore(state) {
          const saved: unknown[] = Array.isArray(state) ? state : [];
          for (const row of rows) row.input.checked = saved.includes(row.id);
          return rows.some(({ input }) => input.checked);
        },
        show(answer, { score, isClosed }) {
          for (const row of rows) {
            const isRight = question.correct.includes(row.id);
            if (answer.includes(row.id)) row.mark(!score ? 'picked' : isRight ? 'right' : 'wrong');
            else row.mark(score && isRight && isClosed ? 'missed' : undefined);
            row.input.disabled = true;
          }
        },
        open() {
          for (const row of rows) {
            row.input.disabled = false;
            row.mark();
          }
        },
        retry(isScored) {
          // Learners edit an unscored answer, but start over after a wrong one.
          if (isScored) for (const { input } of rows) input.checked = false;
          (rows.find(({ input }) => input.checked) ?? rows[0])?.input.focus();
        },
      };
    },
  );
});
