import { defineWidget } from '../../define.ts';
import { text } from '../../props.ts';
import { choiceField } from '../../question/choice-field.ts';
import { showQuestion } from '../../question/question.ts';
import { shuffled } from '../../question/shuffle.ts';
import { readQuestion, scoreMultipleChoice } from '../../../shared/lessons/scoring/multiple-choice.ts';

/** A question with one choice to select (radio buttons) or several (checkboxes). */
export default defineWidget('MultipleChoice', (root, options) => {
  const { props, context } = options;
  const { choices: given, correct } = readQuestion(props);
  const choices = props.shuffle === true ? shuffled(given, text(props.id)) : given;
  const several = correct.length > 1 || props.multiple === true;

  showQuestion<string[]>(
    root,
    options,
    (answer) => scoreMultipleChoice(props, answer),
    (labels, view) =>
      choices.length === 0
        ? undefined
        : choiceField({ choices, several, isRight: (id) => correct.includes(id) }, labels, view, context),
  );
});
