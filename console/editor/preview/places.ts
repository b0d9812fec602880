import type { EmptyList, Rectangle } from '../../../shared/lessons/preview-messages.ts';
import type { BlockNode, Slot, StepTree } from '../model/blocks.ts';

/** Where the blocks of a step are in the preview. */
export interface Layout {
  readonly blocks: ReadonlyMap<string, Rectangle>;
  readonly emptyLists: readonly EmptyList[];
}

/** Returns the innermost block at a point. */
export function blockAt(tree: StepTree, { blocks }: Layout, x: number, y: number): BlockNode | undefined {
  const found = [...tree.byId].flatMap(([id, node]) => {
    const at = blocks.get(id);
    return at !== undefined && contains(at, x, y) ? [{ node, area: at[2] * at[3] }] : [];
  });
  const [innermost] = found.sort(
    (one, other) => other.node.path.length - one.node.path.length || one.area - other.area,
  );
  return innermost?.node;
}

function contains([left, top, width, height]: Rectangle, x: number, y: number): boolean {
  return left <= x && x <= left + width && top <= y && y <= top + height;
}

/** Returns the lists of blocks that are empty and visible. The frame says where they are, the step which there are. */
export function emptySlots(tree: StepTree, { emptyLists }: Layout): { slot: Slot; at: Rectangle }[] {
  return emptyLists.flatMap(({ blockId, path, rectangle }) => {
    const slot = tree.byId
      .get(blockId)
      ?.slots.find(({ inProps, nodes }) => nodes.length === 0 && inProps?.join('.') === path.join('.'));
    return slot === undefined ? [] : [{ slot, at: rectangle }];
  });
}
