import { withoutTags } from './blocks.ts';
import { recordOf } from './json-values.ts';
import type { Block, Section, Step } from './lesson-content.ts';

/** A block as people recognize it. */
export interface NamedBlock {
  id: string;
  type: string;
  /** The beginning of its text, without markup. */
  text: string;
}

/** Where a block is, for people and for links. */
export interface BlockPlace {
  section: { id: string; title: string };
  step: { id: string; title: string };
  block: NamedBlock;
}

const maxCharacters = 100;

/** The props that tell blocks of a type apart for people, the first one that has a text. */
const namingProps = [
  'prompt',
  'question',
  'text',
  'html',
  'title',
  'caption',
  'alt',
  'latex',
  'code',
  'transcript',
];

export function namedBlock({ type, props }: Partial<Block>): NamedBlock {
  const values = recordOf(props);
  const texts = namingProps.map((name) => values[name]).filter((text) => typeof text === 'string');
  const plain = texts.map((html) => withoutTags(html).replaceAll(/\s+/g, ' ').trim());
  const text = cutText(plain.find((words) => words !== '') ?? '', maxCharacters);
  return { id: String(values.id), type: typeof type === 'string' ? type : '', text };
}

export function placeOfBlock({
  section,
  step,
  block,
}: {
  section: Section;
  step: Step;
  block: Block;
}): BlockPlace {
  const named = ({ id, title }: Section | Step) => ({ id, title: cutText(title, maxCharacters) });
  return { section: named(section), step: named(step), block: namedBlock(block) };
}

/** Cuts a text, not within a character. */
export function cutText(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  return `${text.slice(0, maxLength).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
