import type { Score } from '../../shared/lessons/scoring/scoring.ts';
import { element, icon } from '../dom.ts';
import { richText } from '../html.ts';
import { record } from '../props.ts';
import type { CoreContext } from '../define.ts';
import { creditsIn } from '../figure.ts';
import { message } from '../../shared/i18n/message.ts';

/** The result of an answer as a whole. */
export type Outcome = 'right' | 'partly' | 'wrong';

const verdictKeys = {
  right: 'widget.correct',
  partly: 'widget.partlyCorrect',
  wrong: 'widget.incorrect',
} as const;

/** The feedback on an answer. */
export interface ResultView {
  /** Screen readers announce each change of it. */
  verdict: HTMLElement;
  /** Empty if the author wrote none. */
  explanation: HTMLElement;
  /** Shows a note in place of the verdict. */
  showNote(note: string): void;
  /**
   * @param outcome undefined for an answer that is not scored
   * @param rule the sentence that explains the points, if they need one
   * @param triesLeft undefined for a closed question
   */
  show(
    outcome: Outcome | undefined,
    score: Score | null,
    rule: string | undefined,
    triesLeft: number | undefined,
  ): void;
  /** Returns a text with the number; '' for infinity. */
  triesLeft(left: number): string;
  clear(): void;
}

/** @param props `explanation`, HTML; `feedback`: `{right, partly, wrong}`, HTML */
export function resultView(props: Record<string, unknown>, context: CoreContext): ResultView {
  const { language } = context;
  const verdict = element('div', { class: 'lectern-feedback', role: 'status', tabindex: '-1' });
  const explanation = element('div', { class: 'lectern-explanation', hidden: true });
  const explained = richText(props.explanation, context);
  if (explained)
    explanation.append(
      element('p', { class: 'lectern-label' }, message(language, 'widget.explanation')),
      explained,
      ...creditsIn([props.explanation], context),
    );

  const triesLeft = (left: number) =>
    left < Infinity ? message(language, 'widget.triesLeft', { left }) : '';

  function write(kind: Outcome | 'plain', ...content: (Node | string)[]): void {
    verdict.className = `lectern-feedback lectern-is-${kind}`;
    verdict.replaceChildren(...content);
  }

  return {
    verdict,
    explanation,
    triesLeft,
    showNote: (note) => write('plain', note),
    clear() {
      write('plain');
      explanation.hidden = true;
    },
    show(outcome, score, rule, left = Infinity) {
      if (!outcome || !score) return write('plain', message(language, 'widget.answerSaved'));
      // For a single point, right and wrong say it all.
      const points =
        score.maxScore === 1 && outcome !== 'partly' ? '' : message(language, 'widget.score', score);
      const sentences = [message(language, verdictKeys[outcome]), points, rule, triesLeft(left)]
        .filter(Boolean)
        .join(message(language, 'widget.sentenceBreak'));
      const line = element('p', { class: 'lectern-verdict' }, icon(outcome), element('span', {}, sentences));
      const source = record(props.feedback)[outcome];
      const feedback = richText(source, context);
      write(outcome, line, ...(feedback ? [feedback] : []), ...creditsIn([source], context));
    },
  };
}
