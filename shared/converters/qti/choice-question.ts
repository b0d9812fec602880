import { coreWidgets } from '../../lessons/core-widgets.ts';
import type { ConvertedBlock } from '../converted-lesson.ts';
import { choiceId, multipleChoice, questionProps, trueFalse, wordsOf } from '../questions/question-blocks.ts';
import type { ConvertedQuestion, QuestionText } from '../questions/question-blocks.ts';
import type { PlacedFeedback } from './feedback.ts';
import type { Choice, Interaction } from './item.ts';
import { isNear, maxTriedChoices } from './trials.ts';
import type { Trials } from './trials.ts';

/** What the conversion of an interaction knows. */
export interface Question {
  interaction: Interaction;
  trials: Trials;
  text: QuestionText;
  feedback: PlacedFeedback;
  /** The points of the right answer; null if Lectern does not understand the rules. */
  points: number | null;
}

/** An answer in Lectern's form and in that of QTI. */
export type Sample = [answer: unknown, values: string[]];

const otherPoints = 'some answers earn other points';

/** Scores partly right answers as the rules do, if Lectern can. Without rules, only right answers earn points. */
export function withPartialCredit(
  type: 'MultipleChoice' | 'Matching' | 'Ordering' | 'FillInTheBlanks',
  props: Record<string, unknown>,
  samples: readonly Sample[],
  { interaction, trials, points }: Question,
): ConvertedQuestion {
  const block = (partialCredit: boolean): ConvertedBlock => ({ type, props: { ...props, partialCredit } });
  if (points === null || points <= 0) return { block: block(false), losses: [] };
  const gains = samples.map(([, values]) => Math.max(0, trials.gain(interaction, values) ?? 0));
  const isSame = (partialCredit: boolean) =>
    samples.every(([answer], index) => {
      const scored = coreWidgets[type].score(block(partialCredit).props, answer);
      const share = scored === null ? 0 : scored.score / scored.maxScore;
      return isNear(share, (gains[index] ?? 0) / points);
    });
  const isAllOrNothing = isSame(false);
  const isPartial = !isAllOrNothing && (isSame(true) || gains.some((gain) => gain > 0 && gain < points));
  const isExact = isAllOrNothing || isSame(true);
  return { block: block(isPartial), losses: isExact ? [] : [otherPoints] };
}

/** A choice among texts; learners may choose several. */
export function choiceQuestion(question: Question): ConvertedQuestion {
  const { interaction, trials, text, feedback } = question;
  const { choices, isSingle, shuffle } = interaction;
  if (choices.length === 0) return { block: null, losses: ['it has no choices'] };
  const right = trials.rightOf(interaction);
  const named = choices.map((choice, index) => ({
    ...{ id: choiceId(index), html: choice.html },
    ...(feedback.choices.has(choice.id) && { feedback: feedback.choices.get(choice.id) }),
  }));
  const indexOf = (id: string) => choices.findIndex((choice) => choice.id === id);
  const correct = right.flatMap((id) => named[indexOf(id)]?.id ?? []);
  const statement = statementOf(choices, right);
  if (isSingle && statement !== null) {
    const [first = '', second = ''] = [right, wrongOf(choices, right)].map((ids) =>
      ids.map((id) => feedback.choices.get(id) ?? '').join(''),
    );
    const merged = { right: first + feedback.right, wrong: second + feedback.wrong };
    return trueFalse({ ...text, feedback: merged }, statement);
  }
  const props = { ...questionProps(text), choices: named, ...(shuffle && { shuffle }) };
  if (correct.length === 0) {
    const block = {
      type: 'MultipleChoice',
      props: { ...props, correct, ...(!isSingle && { multiple: true }) },
    };
    return { block, losses: question.points === null ? [] : ['no choice earns points, so it is not scored'] };
  }
  if (isSingle) {
    const max = question.points ?? 0;
    const weights = choices.map(({ id, html }) => ({
      ...{ text: html, feedback: feedback.choices.get(id) },
      weight: max > 0 ? (trials.gain(interaction, [id]) ?? 0) / max : Number(right.includes(id)),
    }));
    return multipleChoice(text, weights, { isSingle, shuffle });
  }
  const samples = subsets(choices.map(({ id }) => id)).map((ids): Sample => [
    ids.flatMap((id) => named[indexOf(id)]?.id ?? []),
    ids,
  ]);
  return withPartialCredit('MultipleChoice', { ...props, correct, multiple: true }, samples, question);
}

function wrongOf(choices: readonly Choice[], right: readonly string[]): string[] {
  return choices.map(({ id }) => id).filter((id) => !right.includes(id));
}

/** Returns whether a statement is true, whose choices are True and False; null for other choices. */
function statementOf(choices: readonly Choice[], right: readonly string[]): boolean | null {
  const words = choices.map(({ html }) => wordsOf(html).toLowerCase());
  if (words.toSorted().join() !== 'false,true' || right.length !== 1) return null;
  const index = choices.findIndex(({ id }) => id === right[0]);
  return index < 0 ? null : words[index] === 'true';
}

/** Returns all combinations of a few choices; of many, those of the first ones, each with and without the others. */
function subsets(ids: readonly string[]): string[][] {
  const first = ids.slice(0, maxTriedChoices);
  const others = ids.slice(maxTriedChoices);
  const sets = Array.from({ length: 2 ** first.length }, (_, set) =>
    first.filter((_id, index) => (set & (2 ** index)) !== 0),
  ).slice(1);
  return others.length === 0 ? sets : sets.flatMap((set) => [set, [...set, ...others]]);
}

/** Items in a right order. */
export function orderQuestion(question: Question): ConvertedQuestion {
  const { interaction, trials, text } = question;
  const right = trials.rightOf(interaction);
  const ordered = right.flatMap((id) => interaction.choices.find((choice) => choice.id === id) ?? []);
  if (ordered.length < 2) return { block: null, losses: ['it names no right order'] };
  const losses =
    ordered.length < interaction.choices.length ? ['items that belong nowhere are left out'] : [];
  const items = ordered.map(({ html }, index) => ({ id: `i${index + 1}`, html }));
  const swapped = (at: number) => {
    const order = [...right.keys()];
    [order[at], order[at + 1]] = [at + 1, at];
    return order;
  };
  const orders = [[...right.keys()], ...[...right.keys()].slice(1).map((_, at) => swapped(at))];
  const samples = orders.map((order): Sample => [
    order.map((index) => `i${index + 1}`),
    order.map((index) => right[index] ?? ''),
  ]);
  const made = withPartialCredit('Ordering', { ...questionProps(text), items }, samples, question);
  return { ...made, losses: [...losses, ...made.losses] };
}
