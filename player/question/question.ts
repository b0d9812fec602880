import type { RenderOptions } from '../define.ts';
import { element, isComposing, onPress, reveal, uniqueId } from '../dom.ts';
import { richText } from '../html.ts';
import { creditsIn } from '../figure.ts';
import { record } from '../props.ts';
import { hintParts } from './hint.ts';
import { resultView, type Outcome } from './result-view.ts';
import { isClosedAfter, readAttempts } from '../../shared/lessons/scoring/scoring.ts';
import type { Score } from '../../shared/lessons/scoring/scoring.ts';
import { listOf } from '../../shared/lessons/json-values.ts';
import { message } from '../../shared/i18n/message.ts';

/** Longer prompts are not bold, because long bold text is tiring to read. */
const longPromptChars = 100;

/** The ids of the texts that name and describe the inputs of a question. */
export interface QuestionLabels {
  /** The id of the prompt, or of the hint if there is no prompt. */
  labelledBy: string;
  /** The id of the hint; undefined if it is the label already. */
  describedBy: string | undefined;
}

/** The part in which question types differ: the inputs between prompt and button. */
export interface QuestionField<Answer> {
  element: HTMLElement;
  /** The text above the inputs, which says what to do. */
  instruction: string;
  /** The note for learners who have not answered yet. */
  askFirst: string;
  /** Returns the learner's answer; undefined while there is none. */
  read(): Answer | undefined;
  /**
   * Puts a saved answer into the inputs. It may have any value, or be of another version: returns false if nothing of it
   * fits.
   */
  restore(state: unknown): boolean;
  /** Locks the inputs and marks them. @param result.isClosed whether to show the right answer */
  show(answer: Answer, result: { score: Score | null; isClosed: boolean }): void;
  /** Returns the rule by which an answer with right parts earns nothing; undefined for one without right parts. */
  ruleFor?(answer: Answer): string | undefined;
  /** Unlocks the inputs and removes the marks. */
  open(): void;
  /** Prepares the inputs for another try, and focuses one of them. */
  retry(isScored: boolean): void;
}

/** A question on the page. */
export interface QuestionView {
  /** Checks the answer in the inputs, as the button does. */
  check(this: void): void;
}

/**
 * Shows a question: prompt, inputs, button and result. Checking an answer reports it with its score, marks the inputs,
 * and shows the author's feedback. The last answer counts until the question closes: after a right answer, or when
 * `attempts` limits the tries and none is left. Only then do the explanation and the right answer appear, unless the
 * author has set `showAnswers` to false. Without a limit, learners may practice a closed question. Checking uses no try
 * before the learner has answered or, after a mistake, changed the answer.
 *
 * @param scoreOf returns what an answer earns; null for a question that is not scored
 * @param makeField returns undefined for props without anything to answer
 */
export function showQuestion<Answer>(
  root: HTMLElement,
  { props, state, tries, context }: RenderOptions,
  scoreOf: (answer: Answer) => Score | null,
  makeField: (labels: QuestionLabels, view: QuestionView) => QuestionField<Answer> | undefined,
): void {
  const { language } = context;
  const limit = readAttempts(props.attempts);
  const hintId = uniqueId();
  const promptId = uniqueId();

  root.classList.add('lectern-question');
  const prompt = richText(props.prompt, context);
  if (prompt) {
    prompt.id = promptId;
    prompt.classList.add('lectern-prompt');
    if (prompt.textContent.length > longPromptChars) prompt.classList.add('lectern-is-long');
    root.append(prompt);
  }
  const made = makeField(
    { labelledBy: prompt ? promptId : hintId, describedBy: prompt ? hintId : undefined },
    { check },
  );
  if (made === undefined) return;
  const field = made;

  const hint = element('p', { class: 'lectern-hint', id: hintId });
  const button = element('button', { class: 'lectern-button', type: 'button' });
  const result = resultView(props, context);
  root.append(
    hint,
    ...hintParts(props.hint, context),
    field.element,
    ...creditsIn([props.prompt, props.text, ...partProps.map((name) => partsIn(props[name]))], context),
    element('div', { class: 'lectern-actions' }, button, result.verdict),
    result.explanation,
  );

  let shown: Score | null | undefined;
  let used = 0;
  /** The wrong answer in the inputs, as JSON, which the learner has to change before checking. */
  let mistake: string | undefined;

  function ask(): void {
    shown = undefined;
    hint.textContent = [field.instruction, result.triesLeft(limit - used)].join(' ').trim();
    button.textContent = message(language, 'widget.checkAnswer');
    button.classList.remove('lectern-is-quiet');
    result.clear();
    field.open();
  }

  function show(answer: Answer, score: Score | null): void {
    shown = score;
    const outcome = outcomeOf(score);
    const isClosed = !!score && isClosedAfter(score, used, limit);
    const isOver = isClosed && limit < Infinity;
    const reveals = isClosed && props.showAnswers !== false;
    const hadFocus = root.contains(document.activeElement);
    field.show(answer, { score, isClosed: reveals });
    hint.textContent = field.instruction;
    hint.hidden = button.hidden = isOver;
    button.textContent = message(language, score ? 'widget.tryAgain' : 'widget.change');
    // After a right answer, the next step comes first.
    button.classList.toggle('lectern-is-quiet', isClosed || !score);
    const rule = outcome === 'wrong' ? field.ruleFor?.(answer) : undefined;
    result.show(outcome, score, rule, isClosed ? undefined : limit - used);
    result.explanation.hidden = !(reveals || !score);
    // The element with the focus is disabled or gone, so the keyboard would lose its position. After a right answer, a
    // focus on "Try again" would sound as if the answer were wrong.
    if (hadFocus) (isClosed ? result.verdict : button).focus();
  }

  function check(): void {
    const answer = field.read();
    if (answer === undefined || JSON.stringify(answer) === mistake) {
      const isRetry = answer !== undefined && used > 0;
      result.showNote(isRetry ? message(language, 'widget.changeFirst') : field.askFirst);
      return reveal(result.verdict);
    }
    used += 1;
    const score = scoreOf(answer);
    show(answer, score);
    reveal(result.verdict);
    context.answer(answer, score ?? undefined);
  }

  function again(): void {
    const isScored = shown !== null;
    ask();
    field.retry(isScored);
    noteMistake();
  }

  /** Remembers the answer in the inputs if it is wrong: checking it would waste a try. */
  function noteMistake(): void {
    const answer = field.read();
    const outcome = answer === undefined ? undefined : outcomeOf(scoreOf(answer));
    mistake = outcome === 'right' || outcome === undefined ? undefined : JSON.stringify(answer);
  }

  onPress(button, () => (shown === undefined ? check() : again()));

  const resumed = state !== undefined && field.restore(state) ? field.read() : undefined;
  if (resumed === undefined) {
    ask();
    return noteMistake();
  }
  used = Math.max(tries, 1);
  show(resumed, scoreOf(resumed));
}

/** The props with the parts of a question, which may show pictures. */
const partProps = ['choices', 'pairs', 'items', 'distractors'];

/** Returns the parts of a question without what learners see only later. */
function partsIn(parts: unknown): unknown[] {
  return listOf(parts).map((part) => {
    const { feedback: _1, notChosenFeedback: _2, hint: _3, ...shown } = record(part);
    return shown;
  });
}

/** Makes Enter check the answer, as in a form; forms do not submit in the widgets' sandbox. */
export function checkOnEnter(input: HTMLElement, view: QuestionView): void {
  input.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || isComposing(event)) return;
    // Otherwise the same key press would click the button that now has the focus.
    event.preventDefault();
    view.check();
  });
}

/** Returns undefined for a question that is not scored. */
function outcomeOf(score: Score | null): Outcome | undefined {
  if (!score) return undefined;
  return score.score === score.maxScore ? 'right' : score.score > 0 ? 'partly' : 'wrong';
}
