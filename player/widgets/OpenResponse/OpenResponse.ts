import { defineWidget } from '../../define.ts';
import { element, reveal, uniqueId } from '../../dom.ts';
import { creditsIn } from '../../figure.ts';
import { richText } from '../../html.ts';
import { message } from '../../../shared/i18n/message.ts';

/** About eight pages. The answers of a whole lesson must fit into one request. */
const maxCharacters = 20_000;

/**
 * A question that learners answer in their own words. After submitting, they compare their answer with the sample
 * answer, and may change it. Text in the field counts as submitted when the step changes. Answers are not scored.
 */
export default defineWidget('OpenResponse', (root, { props, state, context }) => {
  const { language } = context;
  const promptId = uniqueId();
  const labelId = uniqueId();

  root.classList.add('lectern-question');
  const prompt = richText(props.prompt, context);
  if (prompt) {
    prompt.id = promptId;
    prompt.classList.add('lectern-prompt');
    root.append(prompt, ...creditsIn([props.prompt], context));
  }
  const field = element('textarea', {
    class: 'lectern-field',
    rows: '5',
    maxlength: String(maxCharacters),
    dir: 'auto',
    'aria-labelledby': prompt ? `${promptId} ${labelId}` : labelId,
  });
  const button = element(
    'button',
    { class: 'lectern-button', type: 'button' },
    message(language, 'widget.submit'),
  );
  const feedback = element('p', { class: 'lectern-feedback', role: 'status' });
  const sample = element('div', { class: 'lectern-explanation', hidden: true });
  const sampleText = richText(props.sampleAnswer, context);
  if (sampleText)
    sample.append(
      element('p', { class: 'lectern-label' }, message(language, 'widget.sampleAnswer')),
      sampleText,
      ...creditsIn([props.sampleAnswer], context),
    );

  root.append(
    element('p', { class: 'lectern-label', id: labelId }, message(language, 'widget.yourAnswer')),
    field,
    element('div', { class: 'lectern-actions' }, button, feedback),
    sample,
  );

  let submitted = '';

  function show(answer: string): void {
    submitted = answer;
    feedback.textContent = message(language, sampleText ? 'widget.compare' : 'widget.answerSaved');
    button.textContent = message(language, 'widget.update');
    button.classList.add('lectern-is-quiet');
    sample.hidden = !sampleText;
  }

  button.addEventListener('click', () => {
    const answer = field.value.trim();
    if (!answer) {
      feedback.textContent = message(language, 'widget.writeFirst');
      field.focus();
      return;
    }
    show(answer);
    reveal(feedback);
    context.answer(answer);
  });
  // After a change, sending the answer is the main action again.
  field.addEventListener('input', () => {
    if (submitted) button.classList.toggle('lectern-is-quiet', draft() === undefined);
  });

  if (typeof state === 'string' && state.trim()) {
    field.value = state;
    show(field.value.trim());
  }
  function draft(): string | undefined {
    const answer = field.value.trim();
    return answer && answer !== submitted ? answer : undefined;
  }

  return {
    draft,
    destroy() {
      const answer = draft();
      if (answer !== undefined) context.answer(answer);
    },
  };
});
