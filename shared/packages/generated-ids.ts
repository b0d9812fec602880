import { createHash } from 'node:crypto';
import { lessonBlocks, typeOf, withoutTags } from '../lessons/blocks.ts';
import { isRecord, listOf, recordOf } from '../lessons/json-values.ts';
import { partIdOf, textOf } from '../lessons/scoring/scoring.ts';
import type { LessonContent, Step } from '../lessons/lesson-content.ts';

/** The props whose texts tell blocks of one type apart. */
const namingProps = [
  ...['prompt', 'text', 'html', 'title', 'label', 'src', 'latex', 'code'],
  // Many questions share a prompt such as "Choose the right answer."
  ...['choices', 'pairs', 'items', 'categories', 'statements', 'correct', 'distractors'],
];

/** The props of questions that are lists of parts, whose ids answers name, with the prop of a part that tells it apart. */
const partLists: Record<string, Record<string, string>> = {
  MultipleChoice: { choices: 'html' },
  Matching: { pairs: 'left', distractors: 'html' },
  Ordering: { items: 'html' },
};

/** A section, a step, or the props of a block, in a package. */
interface Part {
  id?: string | null;
  order_index?: number | null;
}

/**
 * Gives ids to the sections, steps, blocks and parts of questions that have none, and an order to sections and steps.
 *
 * Learners' answers and positions are kept by id. So an id follows from the title of a section or step, from the type and
 * texts of a block, and from the text of a choice, pair or item, but not from its place: after an insertion, answers would
 * belong to other questions. Where these are equal, the order of the file numbers them.
 */
export function withGeneratedIds(content: LessonContent): LessonContent {
  const sectionIds = new Ids(content.sections);
  const stepIds = new Ids(content.sections.flatMap(({ steps }) => steps));
  const sections = content.sections.map((section, index) => ({
    ...placed(section, index, () => sectionIds.next('section', section.title)),
    steps: section.steps.map((step, at) => placed(step, at, () => stepIds.next('step', step.title))),
  }));
  const result = { ...content, sections };
  const blocks = [...lessonBlocks(result)].map(({ block }) => block);
  const blockIds = new Ids(blocks.map(({ props }) => props));
  for (const block of blocks) {
    if (hasId(block.props)) continue;
    const texts = namingProps.flatMap((name) => {
      const value = block.props[name];
      if (value === undefined) return [];
      return typeof value === 'string' ? value : JSON.stringify(value);
    });
    block.props = { ...block.props, id: blockIds.next(typeOf(block) ?? 'block', texts.join('\n')) };
  }
  for (const block of blocks) block.props = withPartIds(block.props, typeOf(block) ?? '');
  return result;
}

/** Gives ids to the choices, pairs and items of a question that have none. */
function withPartIds<Props extends Record<string, unknown>>(props: Props, type: string): Props {
  const lists = Object.entries(partLists[type] ?? {});
  const ids = new Ids(
    lists.flatMap(([list]) => listOf(props[list]).map((part) => ({ id: partIdOf(recordOf(part).id) }))),
  );
  const result: Record<string, unknown> = { ...props };
  for (const [list, text] of lists) {
    if (!Array.isArray(props[list])) continue;
    result[list] = props[list].map((part: unknown) =>
      isRecord(part) && partIdOf(part.id) === undefined
        ? { ...part, id: ids.next(list.slice(0, -1), textOf(part[text])) }
        : part,
    );
  }
  return {
    ...props,
    ...result,
    ...(type === 'MultipleChoice' && rightChoices(props, listOf(result.choices))),
  };
}

/**
 * Returns the prop `correct` of a question whose choices had no ids by which it could name them: it may have their texts,
 * or each right choice says so.
 */
function rightChoices(
  { choices, correct }: Record<string, unknown>,
  named: readonly unknown[],
): { correct?: unknown[] } {
  const withoutId = listOf(choices).flatMap((choice, index) =>
    isRecord(choice) && partIdOf(choice.id) === undefined ? [{ choice, id: recordOf(named[index]).id }] : [],
  );
  if (withoutId.length === 0) return {};
  if (correct !== undefined && correct !== null) {
    if (!Array.isArray(correct)) return {};
    const byText = new Map(withoutId.map(({ choice, id }) => [choice.html, id]));
    return { correct: correct.map((right: unknown) => byText.get(right) ?? right) };
  }
  const right = listOf(choices).flatMap((choice, index) =>
    recordOf(choice).correct === true ? [recordOf(named[index]).id] : [],
  );
  return right.length > 0 ? { correct: right } : {};
}

/** Returns a section or step with an id and an order. */
function placed<T extends object>(
  part: T & Part,
  index: number,
  newId: () => string,
): T & Pick<Step, 'id' | 'order_index'> {
  const { id, order_index: order } = part;
  return { ...part, id: id ?? newId(), order_index: order ?? index };
}

function hasId({ id }: Part): boolean {
  return typeof id === 'string';
}

class Ids {
  readonly #taken: Set<string>;
  readonly #counts = new Map<string, number>();

  constructor(parts: Part[]) {
    this.#taken = new Set(parts.flatMap(({ id }) => id ?? []));
  }

  next(kind: string, text: string): string {
    // Corrections of markup, case and punctuation keep the id; 2 + 3, 2 × 3, 2 * 3, 2.3 and -3 are different.
    const words = withoutTags(text);
    // A picture has only tags.
    const letters = (words.trim() === '' ? text : words)
      .normalize('NFKC')
      .toLowerCase()
      .replaceAll(/(?![-.,/*:^]\s*\p{N})[^\p{L}\p{M}\p{N}\p{S}%]/gu, '');
    const base = `${kind}-${createHash('sha256').update(letters).digest('hex').slice(0, 10)}`;
    for (let count = (this.#counts.get(base) ?? 0) + 1; ; count += 1) {
      const id = count === 1 ? base : `${base}-${count}`;
      if (this.#taken.has(id)) continue;
      this.#counts.set(base, count);
      return id;
    }
  }
}
