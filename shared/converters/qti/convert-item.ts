import type { ConvertedBlock } from '../converted-lesson.ts';
import { hasText, openResponse, wordsOf } from '../questions/question-blocks.ts';
import type { ConvertedQuestion, QuestionText } from '../questions/question-blocks.ts';
import { choiceQuestion, orderQuestion } from './choice-question.ts';
import type { Question } from './choice-question.ts';
import { placeFeedback } from './feedback.ts';
import { gapMatchQuestion, numberQuestion, textWithGaps } from './gap-question.ts';
import { replaceMarks } from './item.ts';
import type { Interaction, Outcome, QtiItem } from './item.ts';
import { associateQuestion, matchQuestion } from './pair-question.ts';
import { isNear, Trials } from './trials.ts';

export interface ConvertedItem {
  /** Empty for an item of which learners see nothing. */
  blocks: ConvertedBlock[];
  outcomes: Outcome[];
}

const reasons: Record<string, string> = {
  drawingInteraction: 'learners cannot draw',
  endAttemptInteraction: 'buttons that end an attempt have no counterpart',
  customInteraction: 'programs (custom interactions) have no counterpart',
  portableCustomInteraction: 'programs (portable custom interactions) have no counterpart',
};
const pictureReason = 'questions on places in a picture have no counterpart';

/** Makes blocks of an item. Each interaction gets an outcome. */
export function convertItem(item: QtiItem): ConvertedItem {
  const interactions = item.parts.flatMap((part) =>
    part.kind === 'html' ? part.gaps : part.kind === 'interaction' ? [part.interaction] : [],
  );
  const { refusal, hidden } = item;
  if (refusal !== null) {
    return { blocks: [], outcomes: [...interactions, ...hidden].map((one) => dropped(one, refusal)) };
  }
  const conversion = new ItemConversion(item, interactions);
  for (const part of item.parts) {
    if (part.kind === 'block') conversion.add(part.block);
    else if (part.kind === 'interaction') conversion.interaction(part.interaction);
    else if (part.gaps.length > 0) conversion.gaps(part.html, part.gaps);
    else conversion.html(part.html);
  }
  return conversion.end();
}

function dropped(interaction: Interaction, ...losses: string[]): Outcome {
  return { interaction, block: null, losses };
}

class ItemConversion {
  readonly #item: QtiItem;
  readonly #trials: Trials;
  readonly #scored: readonly Interaction[];
  readonly #blocks: ConvertedBlock[] = [];
  readonly #outcomes: Outcome[] = [];
  /** The text before the next question. */
  #html = '';

  constructor(item: QtiItem, interactions: readonly Interaction[]) {
    this.#item = item;
    this.#trials = new Trials(item, interactions);
    this.#scored = interactions.filter(({ type }) => type !== 'media' && type !== 'unsupported');
  }

  html(html: string): void {
    this.#html += html;
  }

  add(block: ConvertedBlock): void {
    if (hasText(this.#html)) this.#blocks.push({ type: 'Text', props: { html: this.#html } });
    this.#html = '';
    this.#blocks.push(block);
  }

  interaction(interaction: Interaction): void {
    const { type, block, element } = interaction;
    if (type === 'media') {
      if (block !== null) this.add(block);
      this.#outcomes.push({ interaction, block, losses: block === null ? ['its file is missing'] : [] });
      return;
    }
    if (type === 'unsupported') {
      this.#outcomes.push(dropped(interaction, reasons[element] ?? pictureReason));
      return;
    }
    const { question, losses } = this.#question(interaction);
    const made = convert(question);
    this.#finish([interaction], made, [...losses, ...interaction.losses]);
  }

  gaps(html: string, gaps: readonly Interaction[]): void {
    const [first] = gaps;
    if (first === undefined) return;
    const whole = this.#html + html;
    const { question, losses } = this.#question(first, gaps.length > 1);
    if (gaps.length === 1 && first.type === 'textEntry' && first.isNumber) {
      const prompt = replaceMarks(whole, () => '').replace(/<p>\s*<\/p>/g, '');
      this.#html = '';
      this.#finish([first], numberQuestion(prompt, question), losses);
      return;
    }
    const points = this.#pointsOf(gaps);
    const text = { ...question.text, ...(points !== null && points > 0 && { points }) };
    const made = textWithGaps(whole, gaps, text, this.#trials);
    this.#html = '';
    if (made.block !== null) this.add(made.block);
    const isOpen = made.block?.type === 'OpenResponse';
    for (const [index, interaction] of gaps.entries()) {
      const gapLosses = made.gapLosses[index] ?? null;
      const all = [...losses, ...made.losses, ...(gapLosses ?? [])];
      if (gapLosses !== null) this.#outcomes.push({ interaction, block: made.block, losses: all });
      else if (interaction.type === 'unsupported') {
        this.#outcomes.push(dropped(interaction, reasons[interaction.element] ?? pictureReason));
      } else if (isOpen) {
        const open = ['it names no right answer: learners answer in their own words'];
        this.#outcomes.push({ interaction, block: made.block, losses: open });
      } else this.#outcomes.push(dropped(interaction, 'it names no right answer'));
    }
  }

  end(): ConvertedItem {
    for (const interaction of this.#item.hidden) {
      this.#outcomes.push(dropped(interaction, 'it is in a text that learners see only at times'));
    }
    if (this.#outcomes.length > 0 && this.#outcomes.every(({ block }) => block === null)) {
      return { blocks: [], outcomes: this.#outcomes };
    }
    if (hasText(this.#html)) this.#blocks.push({ type: 'Text', props: { html: this.#html } });
    const [first] = this.#outcomes.filter(({ block }) => block !== null);
    first?.losses.push(...this.#item.losses);
    return { blocks: this.#blocks, outcomes: this.#outcomes };
  }

  /** Returns the points that the right answers to some interactions add; null if the rules are unknown. */
  #pointsOf(interactions: readonly Interaction[]): number | null {
    const full = this.#trials.score(this.#trials.right);
    const others = new Map(this.#trials.right);
    for (const { response } of interactions) others.delete(response);
    const without = this.#trials.score(others);
    if (full === null || without === null) return null;
    // If only all answers together earn points, each question gets a share of them.
    const gain = full - without;
    const isTogether = this.#scored.length > interactions.length && isNear(gain, full) && without === 0;
    // Programs that count in per cent mean a point.
    const points = this.#item.points ?? (full === 100 ? 1 : null);
    return points !== null && full > 0
      ? (gain / full) * points
      : isTogether
        ? (gain * interactions.length) / this.#scored.length
        : gain;
  }

  #question(interaction: Interaction, isOneOfMany = false): { question: Question; losses: string[] } {
    const trials = this.#trials;
    const points = trials.gain(interaction, trials.rightOf(interaction));
    const shown = this.#pointsOf([interaction]);
    const losses: string[] = [];
    const isScored =
      trials.rightOf(interaction).length > 0 && !/^(?:extendedText|upload)$/.test(interaction.type);
    if (isScored && points === null && this.#item.score(new Map()) === null) {
      losses.push('its rules for points are not read: the right answer earns one point');
    }
    const isAlone = this.#scored.length === 1 || isOneOfMany;
    if (!isAlone && points !== null && !isNear(shown ?? points, points)) {
      losses.push('its questions earn points one by one');
    }
    const feedback = placeFeedback(this.#item, interaction, trials);
    const hasOwn = isAlone || feedback.choices.size > 0;
    if (hasOwn) losses.push(...feedback.losses);
    const text: QuestionText = {
      prompt: this.#html + interaction.prompt,
      ...(shown !== null && shown > 0 && { points: Number(shown.toFixed(4)) }),
      explanation: isAlone ? feedback.explanation : '',
      feedback: isAlone ? { right: feedback.right, wrong: feedback.wrong } : {},
    };
    if (!isAlone && this.#item.feedbacks.length > 0 && feedback.choices.size === 0) {
      losses.push('feedback for the whole item is left out');
    }
    return { question: { interaction, trials, text, feedback, points }, losses };
  }

  #finish(interactions: readonly Interaction[], made: ConvertedQuestion, losses: readonly string[]): void {
    if (made.block !== null) {
      if ('prompt' in made.block.props || 'text' in made.block.props) this.#html = '';
      this.add(made.block);
    }
    for (const interaction of interactions) {
      const { block } = made;
      this.#outcomes.push({ interaction, block, losses: [...new Set([...losses, ...made.losses])] });
    }
  }
}

function convert(question: Question): ConvertedQuestion {
  const { interaction, text, trials } = question;
  switch (interaction.type) {
    case 'choice':
      return choiceQuestion(question);
    case 'hottext': {
      const prompt = text.prompt + interaction.text;
      const made = choiceQuestion({ ...question, text: { ...text, prompt } });
      return { ...made, losses: ['learners choose the words from a list', ...made.losses] };
    }
    case 'order':
      return orderQuestion(question);
    case 'match':
      return matchQuestion(question);
    case 'associate':
      return associateQuestion(question);
    case 'gapMatch':
      return gapMatchQuestion(question);
    case 'slider': {
      const made = numberQuestion(text.prompt, question);
      return { ...made, losses: ['learners type the number', ...made.losses] };
    }
    case 'upload': {
      const made = openResponse(text);
      return { ...made, losses: [...made.losses, 'learners cannot hand in files: they write a text'] };
    }
    case 'extendedText': {
      const [sample = ''] = trials.rightOf(interaction);
      const made = openResponse(text, sample);
      const isScored = (question.points ?? 0) > 0;
      return { ...made, losses: [...made.losses, ...(isScored ? ['it is not scored'] : [])] };
    }
    case 'textEntry':
    case 'inlineChoice':
    case 'media':
    case 'unsupported':
      return { block: null, losses: ['it has no counterpart'] };
  }
}

/** Returns a title for the report. */
export function titleOf(item: QtiItem, { prompt }: Interaction): string {
  return item.title || wordsOf(prompt);
}
