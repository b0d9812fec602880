import { message } from '../../shared/i18n/message.ts';
import type { Choice } from '../../shared/lessons/scoring/multiple-choice.ts';
import { element, uniqueId } from '../dom.ts';
import type { WidgetContext } from '../widget.ts';
import { choiceRow } from './choice-row.ts';
import { checkOnEnter } from './question.ts';
import type { QuestionField, QuestionLabels, QuestionView } from './question.ts';

/** The choices of a question, and how learners select them. */
export interface Choices {
  /** Each with an author's HTML, or with a plain text. */
  choices: (Choice | { id: string; text: string })[];
  /** Whether learners may select several. */
  several: boolean;
  isRight(this: void, id: string): boolean;
}

/** Makes the inputs of a question with choices: radio buttons or checkboxes. An answer is the ids of those selected. */
export function choiceField(
  { choices, several, isRight }: Choices,
  { labelledBy, describedBy }: QuestionLabels,
  view: QuestionView,
  context: WidgetContext,
): Omit<QuestionField<string[]>, 'ruleFor'> {
  const group = uniqueId();
  const rows = choices.map((choice) => choiceRow(choice, several ? 'checkbox' : 'radio', group, context));
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
        if (answer.includes(row.id)) row.mark(!score ? 'picked' : isRight(row.id) ? 'right' : 'wrong');
        else row.mark(score && isRight(row.id) && isClosed ? 'missed' : 'left');
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
      // What is right stays, so that learners only correct the rest. After a right answer, they start over.
      const picked = rows.filter(({ input }) => input.checked);
      const hasMistake =
        picked.some(({ id }) => !isRight(id)) || rows.some(({ id, input }) => !input.checked && isRight(id));
      if (isScored) for (const { id, input } of picked) input.checked = hasMistake && isRight(id);
      (rows.find(({ input }) => input.checked) ?? rows[0])?.input.focus();
    },
  };
}
