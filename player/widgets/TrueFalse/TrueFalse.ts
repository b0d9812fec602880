import { message } from '../../../shared/i18n/message.ts';
import { readTrueFalse, scoreTrueFalse } from '../../../shared/lessons/scoring/true-false.ts';
import { defineWidget } from '../../define.ts';
import { text } from '../../props.ts';
import { choiceField } from '../../question/choice-field.ts';
import { showQuestion } from '../../question/question.ts';

/** A statement that is true or false. */
export default defineWidget(
  'TrueFalse',
  (root, options) => {
    const { props, context } = options;
    const { language } = context;
    const { correct } = readTrueFalse(props);
    const choices = [
      { id: 'true', text: text(props.trueLabel) || message(language, 'widget.true') },
      { id: 'false', text: text(props.falseLabel) || message(language, 'widget.false') },
    ];

    showQuestion<boolean>(
      root,
      options,
      (answer) => scoreTrueFalse(props, answer),
      (labels, view) => {
        const field = choiceField(
          { choices, several: false, isRight: (id) => id === String(correct) },
          labels,
          view,
          context,
        );
        return {
          ...field,
          read() {
            const picked = field.read()?.[0];
            return picked === undefined ? undefined : picked === 'true';
          },
          restore: (state) => field.restore(typeof state === 'boolean' ? [String(state)] : []),
          show: (answer, result) => field.show([String(answer)], result),
        };
      },
    );
  },
  { plainProps: ['trueLabel', 'falseLabel'] },
);
