import { message } from '../../../shared/i18n/message.ts';
import { defineWidget } from '../../define.ts';
import { text } from '../../props.ts';
import { choiceField } from '../../question/choice-field.ts';
import { showQuestion } from '../../question/question.ts';
import { shuffled } from '../../question/shuffle.ts';
import { readQuestion, scoreMultipleChoice } from '../../../shared/lessons/scoring/multiple-choice.ts';

/** A question with one choice to select (radio buttons) or several (checkboxes). */
export default defineWidget('MultipleChoice', (root, options) => {
  const { props, context } = options;
  const { choices: given, correct, partialCredit } = readQuestion(props);
  const choices = props.shuffle === true ? shuffled(given, text(props.id)) : given;
  const several = correct.length > 1 || props.multiple === true;
  const rule = message(context.language, partialCredit ? 'widget.wrongCosts' : 'widget.allOrNothing');

  showQuestion<string[]>(
    root,
    options,
    (answer) => scoreMultipleChoice(props, answer),
    (labels, view) => {
      if (choices.length === 0) return undefined;
      const isRight = (id: string) => correct.includes(id);
      return {
        ...choiceField({ choices, several, isRight }, labels, view, context),
        ruleFor: (answer) => (answer.some(isRight) ? rule : undefined),
      };
    },
  );
});
