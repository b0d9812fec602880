import { readMatching } from '../../lessons/scoring/matching.ts';
import { hasText, questionProps } from '../questions/question-blocks.ts';
import type { ConvertedQuestion } from '../questions/question-blocks.ts';
import { choiceQuestion, withPartialCredit } from './choice-question.ts';
import type { Question, Sample } from './choice-question.ts';
import type { Choice } from './item.ts';

/** Beyond so many pairs, a list of all would be no question. */
const maxListedPairs = 40;

/** Pairs of a source and a target. */
export function matchQuestion(question: Question): ConvertedQuestion {
  const { interaction, trials } = question;
  const pairs = trials.rightOf(interaction).map(pairOf);
  if (pairs.length === 0) return { block: null, losses: ['it names no right pairs'] };
  const { choices, targets } = interaction;
  if (isEachOnce(pairs.map(([source]) => source))) return withPairs(question, pairs, choices, targets, false);
  if (isEachOnce(pairs.map(([, target]) => target))) {
    const turned = pairs.map(([source, target]): [string, string] => [target, source]);
    return withPairs(question, turned, targets, choices, true);
  }
  if (choices.length * targets.length > maxListedPairs) {
    return { block: null, losses: ['its sources and targets belong to several others'] };
  }
  const listed = choices.flatMap((source) =>
    targets.map((target) => ({
      id: `${source.id} ${target.id}`,
      html: `<p>${source.html} – ${target.html}</p>`,
    })),
  );
  const made = choiceQuestion({
    ...question,
    interaction: { ...interaction, choices: listed, isSingle: false },
  });
  return { ...made, losses: ['learners choose the right pairs from a list', ...made.losses] };
}

/** Pairs without a direction. */
export function associateQuestion(question: Question): ConvertedQuestion {
  const { interaction, trials } = question;
  const pairs = trials.rightOf(interaction).map(pairOf);
  if (pairs.length === 0 || !isEachOnce(pairs.flat())) {
    return { block: null, losses: ['its choices belong to several others'] };
  }
  const made = withPairs(question, pairs, interaction.choices, interaction.choices, false);
  return { ...made, losses: ['the sides of pairs are fixed', ...made.losses] };
}

function pairOf(text: string): [string, string] {
  const [first = '', second = ''] = text.trim().split(/\s+/);
  return [first, second];
}

function isEachOnce(ids: readonly string[]): boolean {
  return new Set(ids).size === ids.length;
}

/** @param isTurned whether the pairs name the target first */
function withPairs(
  question: Question,
  pairs: readonly [string, string][],
  lefts: readonly Choice[],
  rights: readonly Choice[],
  isTurned: boolean,
): ConvertedQuestion {
  const htmlOf = (choices: readonly Choice[], id: string) => choices.find((one) => one.id === id)?.html ?? '';
  const named = pairs.map(([left, right], index) => ({
    ...{ id: `p${index + 1}`, left: htmlOf(lefts, left), right: htmlOf(rights, right) },
  }));
  if (named.some(({ left, right }) => !hasText(left) || !hasText(right))) {
    return { block: null, losses: ['a side of a pair is empty'] };
  }
  const used = new Set(pairs.flat());
  const isOneSet = lefts === rights;
  const distractors = isOneSet ? [] : rights.filter(({ id, html }) => !used.has(id) && hasText(html));
  const props = {
    ...questionProps(question.text),
    pairs: named,
    ...(distractors.length > 0 && {
      distractors: distractors.map(({ html }, index) => ({ id: `d${index + 1}`, html })),
    }),
  };
  const lost = lefts.some(({ id }) => !used.has(id)) ? ['what belongs to nothing is left out'] : [];
  const { items } = readMatching(props);
  const written = pairs.map(([a, b]) => (isTurned ? `${b} ${a}` : `${a} ${b}`));
  const sample = (indexes: readonly number[]): Sample => [
    Object.fromEntries(indexes.flatMap((at) => (items[at] ? [[items[at].id, items[at].match]] : []))),
    indexes.flatMap((at) => written[at] ?? []),
  ];
  const all = [...pairs.keys()];
  const samples = [sample(all), ...all.map((at) => sample(all.filter((other) => other !== at)))];
  const made = withPartialCredit('Matching', props, samples, question);
  return { ...made, losses: [...lost, ...made.losses] };
}
