import { defineWidget } from '../../define.ts';
import { element, uniqueId } from '../../dom.ts';
import { richText } from '../../html.ts';
import { readQuestion, scoreMultipleChoice } from '../../../shared/lessons/multiple-choice.ts';
import type { Score } from '../../../shared/lessons/scoring.ts';
import { choiceRow } from './choice-row.ts';
import { resultView, type Outcome } from './result-view.ts';
import { message } from '../../../shared/i18n/message.ts';

/**
 * A question with one choice to select (radio buttons) or several (checkboxes). Checking an answer reports it with its
 * score, marks the selected choices, and shows the author's feedback. The last answer counts.
 *
 * Without a limit, the learner can always try again and sees the explanation with every answer. With a limit, the
 * explanation and the missed right choices appear only when the question closes: after a right answer or the last try.
 */
export default defineWidget('MultipleChoice', (root, { props, state, tries, context }) => {
  const question = readQuestion(props);
  const { language } = context;
  const several = question.correct.length > 1 || props.multiple === true;
  const limit = triesAllowed(props.attempts);
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
  const instruction = message(language, several ? 'widget.chooseSeveral' : 'widget.chooseOne');
  const hint = element('p', { class: 'lectern-hint', id: hintId });
  const button = element('button', { class: 'lectern-button', type: 'button' });
  const result = resultView(props, context);
  root.append(
    hint,
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
    element('div', { class: 'lectern-actions' }, button, result.verdict),
    result.explanation,
  );

  const picked = () => rows.filter(({ input }) => input.checked).map(({ id }) => id);
  let answered = false;
  let used = 0;

  function ask(): void {
    answered = false;
    hint.textContent = [instruction, result.triesLeft(limit - used)].join(' ').trim();
    button.textContent = message(language, 'widget.checkAnswer');
    button.classList.remove('lectern-is-quiet');
    result.clear();
    for (const row of rows) {
      row.input.disabled = false;
      row.mark();
    }
  }

  function show(answer: string[], score: Score | null): void {
    answered = true;
    const outcome = outcomeOf(score);
    const isClosed = used >= limit || (outcome === 'right' && limit < Infinity);
    const hadFocus = root.contains(document.activeElement);
    for (const row of rows) {
      const isRight = question.correct.includes(row.id);
      if (answer.includes(row.id)) row.mark(!score ? 'picked' : isRight ? 'right' : 'wrong');
      else row.mark(score && isRight && isClosed ? 'missed' : undefined);
      row.input.disabled = true;
    }
    hint.textContent = instruction;
    hint.hidden = button.hidden = isClosed;
    button.textContent = message(language, score ? 'widget.tryAgain' : 'widget.change');
    button.classList.add('lectern-is-quiet');
    result.show(outcome, score, isClosed ? undefined : limit - used);
    result.explanation.hidden = !(isClosed || !score || limit === Infinity);
    // The element with the focus is disabled or gone, so the keyboard would lose its position.
    if (hadFocus) (isClosed ? result.verdict : button).focus();
  }

  function check(): void {
    const answer = picked();
    if (answer.length === 0) return result.showNote(message(language, 'widget.chooseFirst'));
    used += 1;
    const score = scoreMultipleChoice(props, answer);
    show(answer, score);
    context.answer(answer, score ?? undefined);
  }

  function again(): void {
    // Learners change an opinion, but start over after a mistake.
    if (scoreMultipleChoice(props, [])) for (const { input } of rows) input.checked = false;
    ask();
    (rows.find(({ input }) => input.checked) ?? rows[0])?.input.focus();
  }

  button.addEventListener('click', () => (answered ? again() : check()));
  for (const { input } of rows) {
    // Enter checks the answer, as in a form; forms do not submit in the widgets' sandbox.
    input.addEventListener('keydown', (event) => {
      if (event.key !== 'Enter') return;
      // Otherwise the same key press would click the button that now has the focus.
      event.preventDefault();
      check();
    });
  }

  const saved: unknown[] = Array.isArray(state) ? state : [];
  for (const row of rows) row.input.checked = saved.includes(row.id);
  const resumed = picked();
  if (resumed.length === 0) return ask();
  used = Math.max(tries, 1);
  show(resumed, scoreMultipleChoice(props, resumed));
});

/** Reads the limit of tries: a whole number of at least 1, otherwise none. */
function triesAllowed(attempts: unknown): number {
  return Number.isInteger(attempts) && (attempts as number) > 0 ? (attempts as number) : Infinity;
}

/** Returns undefined for a question that is not scored. */
function outcomeOf(score: Score | null): Outcome | undefined {
  if (!score) return undefined;
  return score.score === score.maxScore ? 'right' : score.score > 0 ? 'partly' : 'wrong';
}
