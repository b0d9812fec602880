import { createHash } from 'node:crypto';
import { lessonBlocks, typeOf, withoutTags } from '../lessons/blocks.ts';
import type { LessonContent, Step } from '../lessons/lesson-content.ts';

/** The props whose texts tell blocks of one type apart. */
const namingProps = [
  ...['prompt', 'text', 'html', 'title', 'label', 'src', 'latex', 'code'],
  // Many questions share a prompt such as "Choose the right answer."
  ...['choices', 'pairs', 'items', 'categories', 'statements', 'correct', 'distractors'],
];

/** A section, a step, or the props of a block, in a package. */
interface Part {
  id?: string | null;
  order_index?: number | null;
}

/**
 * Gives ids to the sections, steps and blocks that have none, and an order to sections and steps.
 *
 * Learners' answers and positions are kept by id. So an id follows from the title of a section or step, and from the
 * type and texts of a block, but not from its place: after an insertion, answers would belong to other questions. Where
 * these are equal, the order of the file numbers them.
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
  return result;
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
    const letters = withoutTags(text)
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
