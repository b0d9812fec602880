import type { Interaction, QtiItem } from './item.ts';
import type { Answers } from './values.ts';

/** Tries answers, to find out what the rules of an item mean. */
export class Trials {
  readonly #item: QtiItem;
  readonly #right = new Map<string, string[]>();

  constructor(item: QtiItem, interactions: readonly Interaction[]) {
    this.#item = item;
    for (const { response, correct, isSingle } of interactions) {
      // Several right values of a single response are alternatives.
      if (correct.length > 0) this.#right.set(response, isSingle ? correct.slice(0, 1) : correct);
    }
    for (const one of interactions) {
      if (one.correct.length > 0) continue;
      const found = this.#findRight(one);
      if (found.length > 0) this.#right.set(one.response, found);
    }
  }

  /** The right answers, by response. */
  get right(): Answers {
    return this.#right;
  }

  rightOf({ response }: Interaction): string[] {
    return this.#right.get(response) ?? [];
  }

  /** Returns the right answers, with another answer to one response. */
  with(response: string, values: readonly string[]): Answers {
    return new Map<string, readonly string[]>([...this.#right, [response, values]]);
  }

  score(answers: Answers): number | null {
    return this.#item.score(answers);
  }

  /** Returns what an answer adds to the points of all other right ones; null if Lectern does not understand the rules. */
  gain({ response }: Interaction, values: readonly string[]): number | null {
    const score = this.score(this.with(response, values));
    const without = this.score(this.with(response, []));
    return score === null || without === null ? null : score - without;
  }

  /** Returns the answer that earns the most, of those that the source names. */
  #findRight(interaction: Interaction): string[] {
    const { response, type, isSingle, choices, candidates } = interaction;
    const tried = [...new Set([...choices.map(({ id }) => id), ...candidates])];
    const none = this.score(this.with(response, [])) ?? 0;
    const scores = tried.map((value) => (this.score(this.with(response, [value])) ?? 0) - none);
    const best = Math.max(0, ...scores);
    if (best === 0) return this.#allButWrong(interaction);
    const isList = !isSingle && type !== 'textEntry' && type !== 'extendedText';
    if (isList) return tried.filter((_value, index) => (scores[index] ?? 0) > 0);
    return [tried[scores.indexOf(best)] ?? ''];
  }

  /** Finds right choices that earn points only together. */
  #allButWrong({ response, choices, isSingle, type }: Interaction): string[] {
    const ids = choices.map(({ id }) => id);
    if (isSingle || type !== 'choice' || ids.length > maxTriedChoices) return [];
    let best: { ids: string[]; score: number } = { ids: [], score: 0 };
    for (let set = 1; set < 2 ** ids.length; set += 1) {
      const chosen = ids.filter((_id, index) => (set & (2 ** index)) !== 0);
      const score = this.score(this.with(response, chosen)) ?? 0;
      if (score > best.score) best = { ids: chosen, score };
    }
    return best.ids;
  }
}

/** Of so many choices, all combinations are tried. */
export const maxTriedChoices = 8;

export function isNear(a: number, b: number): boolean {
  return Math.abs(a - b) < 0.005 * Math.max(1, Math.abs(b));
}
