import { defineWidget } from '../../define.ts';
import { element, uniqueId } from '../../dom.ts';
import { richText } from '../../html.ts';
import { readQuestion, scoreMultipleChoice } from '../../../shared/lessons/multiple-choice.ts';
import type { Score } from '../../../shared/lessons/scoring.ts';
import { choiceRow } from './choice-row.ts';
import { resultView, type Outcome } from './result-view.ts';
import { message } from '../../../shared/i18n/message.ts';

/**
 * A question with one choice to pick (radio buttons) or several (checkboxes). Checking an answer reports it with its
 * score, marks what was picked, and says what the author has to say; the last answer counts.
 *
 * Without a limit of tries the learner may try again at any time, and reads the explanation with every answer. With
 * one, the explanation waits until the answer is right or no try is left, when the question closes. Right choices
 * that were not picked stay unmarked until then: trying again is to be worth it.
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
    // What had the focus is disabled or gone by now, and the keyboard's place on the page with it.
    if (hadFocus) (isClosed ? result.verdict : button).focus();
  }

  function check(): void {
    const answer = picked();
    if (answer.length === 0) return result.say(message(language, 'widget.chooseFirst'));
    used += 1;
    const score = scoreMultipleChoice(props, answer);
    show(answer, score);
    context.answer(answer, score ?? undefined);
  }

  function again(): void {
    // An opinion is changed, a mistake is made good from the start.
    if (scoreMultipleChoice(props, [])) for (const { input } of rows) input.checked = false;
    ask();
    (rows.find(({ input }) => input.checked) ?? rows[0])?.input.focus();
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
  if (resumed.length === 0) return ask();
  used = Math.max(tries, 1);
  show(resumed, scoreMultipleChoice(props, resumed));
});

/** A whole number of 1 or more is a limit; anything else is none. */
function triesAllowed(attempts: unknown): number {
  return Number.isInteger(attempts) && (attempts as number) > 0 ? (attempts as number) : Infinity;
}

/** Undefined for a question that is not scored. */
function outcomeOf(score: Score | null): Outcome | undefined {
  if (!score) return undefined;
  return score.score === score.maxScore ? 'right' : score.score > 0 ? 'partly' : 'wrong';
}
