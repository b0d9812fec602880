import { isRecord } from '../../../shared/lessons/json-values.ts';
import { isBlock, readBlocks, topList, withValueAt } from './blocks.ts';
import type { Block, BlockNode, FieldsOf, Path, StepContent, StepTree } from './blocks.ts';

/** A place for a block: the path of a list, and an index in it. */
export interface BlockPlace {
  readonly list: Path;
  readonly index: number;
}

/** Inserts blocks. */
export function withBlocks(
  content: StepContent,
  { list, index }: BlockPlace,
  blocks: readonly Block[],
): StepContent {
  return withValueAt(content, list, (value) => {
    const present: readonly unknown[] = Array.isArray(value) ? value : [];
    return [...present.slice(0, index), ...blocks, ...present.slice(index)];
  });
}

export function withoutBlock(content: StepContent, path: Path): StepContent {
  const index = Number(path.at(-1));
  return withValueAt(content, path.slice(0, -1), (value) =>
    (value as readonly unknown[]).filter((_, at) => at !== index),
  );
}

/** Replaces the props of a block. A prop that stays the same object stays. */
export function withProps(content: StepContent, path: Path, props: Block['props']): StepContent {
  return withValueAt(content, [...path, 'props'], () => props);
}

/** Returns where a block is. */
export function placeOf({ path }: BlockNode): BlockPlace {
  return { list: path.slice(0, -1), index: Number(path.at(-1)) };
}

/**
 * Moves a block by one place in reading order. The places inside other blocks are among them, so that moving a block
 * down leads through the columns below it.
 */
export function withBlockMoved(
  content: StepContent,
  node: BlockNode,
  by: 1 | -1,
  fieldsOf: FieldsOf,
): StepContent {
  const rest = withoutBlock(content, node.path);
  const places = placesIn(readBlocks(rest, fieldsOf));
  const from = placeOf(node);
  const at = places.findIndex(({ list, index }) => index === from.index && samePath(list, from.list));
  const place = places[at + by];
  return place === undefined ? content : withBlocks(rest, place, [node.block]);
}

/** Returns all places for a block, in reading order. */
function placesIn(tree: StepTree): BlockPlace[] {
  const inList = (nodes: readonly BlockNode[], list: Path): BlockPlace[] => [
    ...nodes.flatMap((node) => [
      placeOf(node),
      ...node.slots.flatMap((slot) => inList(slot.nodes, slot.path)),
    ]),
    // The index of the last node, because a list may have elements that are no blocks.
    { list, index: Number(nodes.at(-1)?.path.at(-1) ?? -1) + 1 },
  ];
  return inList(tree.nodes, topList);
}

/** Returns a copy of a block in which it and the blocks inside it have new ids, if theirs are taken. */
export function copyOf(block: Block, isTaken: (id: string) => boolean): Block {
  return renewed(block, isTaken) as Block;
}

function renewed(value: unknown, isTaken: (id: string) => boolean): unknown {
  if (Array.isArray(value)) return value.map((entry) => renewed(entry, isTaken));
  if (!isRecord(value)) return value;
  const copy = Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, renewed(member, isTaken)]),
  );
  if (!isBlock(value) || !isTaken(value.props.id)) return copy;
  return { ...copy, props: { ...(copy.props as object), id: crypto.randomUUID() } };
}

export function samePath(one: Path, other: Path): boolean {
  return one.length === other.length && one.every((name, index) => String(name) === String(other[index]));
}
