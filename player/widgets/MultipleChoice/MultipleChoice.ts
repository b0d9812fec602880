import { defineWidget } from '../../define.ts';
import { element, uniqueId } from '../../dom.ts';
import { richText } from '../../html.ts';
import { readQuestion, scoreMultipleChoice, type Score } from '../../../shared/lessons/scoring.ts';
import { fill, wordsFor } from '../../words.ts';
import { choiceRow } from './choice-row.ts';

/**
 * A question with one right choice (radio buttons) or several (checkboxes). Checking an answer reports it with
 * its score, marks what was picked, and shows the explanation; the learner may try again, and the last
 * answer counts. Choices that were right but not picked stay unmarked: trying again is to be worth it.
 */
export default defineWidget('MultipleChoice', (root, { props, state, context }) => {
  const question = readQuestion(props);
  const words = wordsFor(context.language);
  const several = question.correct.length > 1;
  const hintId = uniqueId();
  const promptId = uniqueId();

  root.classList.add('lectern-question');
  const prompt = richText(props.prompt, context);
  if (prompt) {
    prompt.id = promptId;
    prompt.classList.add('lectern-prompt');
    root.append(prompt);
  }
  if (question.choices.length === 0) return;

  const group = uniqueId();
  const rows = question.choices.map((choice) =>
    choiceRow(choice, several ? 'checkbox' : 'radio', group, context),
  );
  const button = element('button', { class: 'lectern-button', type: 'button' }, words.checkAnswer);
  const feedback = element('p', { class: 'lectern-feedback', role: 'status' });
  const explanation = element('div', { class: 'lectern-explanation', hidden: true });
  const explained = richText(props.explanation, context);
  if (explained) explanation.append(element('p', { class: 'lectern-label' }, words.explanation), explained);

  root.append(
    element('p', { class: 'lectern-hint', id: hintId }, several ? words.chooseSeveral : words.chooseOne),
    element(
      'div',
      {
        class: 'lectern-choices',
        role: several ? 'group' : 'radiogroup',
        'aria-labelledby': prompt ? promptId : hintId,
        'aria-describedby': prompt ? hintId : undefined,
      },
      ...rows.map(({ row }) => row),
    ),
    element('div', { class: 'lectern-actions' }, button, feedback),
    explanation,
  );

  const picked = () => rows.filter(({ input }) => input.checked).map(({ id }) => id);
  let answered = false;

  function say(kind: 'right' | 'wrong' | 'partly' | 'plain', message: string): void {
    feedback.className = `lectern-feedback lectern-is-${kind}`;
    feedback.textContent = message;
  }

  function show(answer: string[], score: Score | null): void {
    answered = true;
    // Before the choices are disabled, which would drop the keyboard's place on the page.
    if (rows.some(({ input }) => input === document.activeElement)) button.focus();
    for (const row of rows) {
      row.input.disabled = true;
      const isRight = question.correct.includes(row.id);
      row.mark(score && answer.includes(row.id) ? (isRight ? 'right' : 'wrong') : undefined);
    }
    button.textContent = words.tryAgain;
    button.classList.add('lectern-is-quiet');
    explanation.hidden = !explained;
    if (!score) return say('plain', words.answerSaved);
    const kind = score.score === score.maxScore ? 'right' : score.score > 0 ? 'partly' : 'wrong';
    const verdict = { right: words.correct, partly: words.partlyCorrect, wrong: words.incorrect }[kind];
    say(kind, `${verdict}. ${fill(words.score, { ...score }, context.language)}`);
  }

  function check(): void {
    const answer = picked();
    if (answer.length === 0) return say('plain', words.chooseFirst);
    const score = scoreMultipleChoice(props, answer);
    show(answer, score);
    context.answer(answer, score ?? undefined);
  }

  function again(): void {
    answered = false;
    for (const row of rows) {
      row.input.disabled = false;
      row.input.checked = false;
      row.mark(undefined);
    }
    button.textContent = words.checkAnswer;
    button.classList.remove('lectern-is-quiet');
    explanation.hidden = true;
    say('plain', '');
    rows[0]?.input.focus();
  }

  button.addEventListener('click', () => (answered ? again() : check()));
  for (const { input } of rows) {
    // What a form would do by itself; a form does not submit in the sandbox that widgets run in.
    input.addEventListener('keydown', (event) => {
      if (event.key !== 'Enter') return;
      // Else the same key press would go on to the button that now has the focus.
      event.preventDefault();
      check();
    });
  }

  const saved: unknown[] = Array.isArray(state) ? state : [];
  for (const row of rows) row.input.checked = saved.includes(row.id);
  const resumed = picked();
  if (resumed.length > 0) show(resumed, scoreMultipleChoice(props, resumed));
});
