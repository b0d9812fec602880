import { stepBlocks } from '../../shared/lessons/blocks.ts';
import type { Block, StepContent } from '../../shared/lessons/lesson-content.ts';

/** The order of the blocks of a step on the page. */
export interface StepLayout {
  /** The blocks that are not inside another block. */
  blocks: Block[];
  /** Blocks of legacy zones, by the id of the block that they follow. */
  followers: ReadonlyMap<string, Block[]>;
}

/**
 * Orders the blocks of a step: first those of `content`, then those in slots of `root`, then those of zones that name
 * no block, such as root's zones. The blocks of a zone that names a block follow that block.
 */
export function stepLayout(content: StepContent): StepLayout {
  const zones = new Map<string, Block[]>();
  for (const [name, blocks] of Object.entries(content.zones ?? {})) {
    const owner = name.slice(0, Math.max(0, name.lastIndexOf(':')));
    zones.set(owner, [...(zones.get(owner) ?? []), ...blocks]);
  }
  const followers = new Map<string, Block[]>();

  /** Assigns zones to these blocks and the blocks inside them; the zones' blocks may have zones in turn. */
  function claim(shown: Block[]): void {
    const pending = [shown];
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      for (const { block } of stepBlocks({ content: next, root: {} })) {
        const { id } = block.props;
        const zone = zones.get(id);
        if (zone === undefined) continue;
        zones.delete(id);
        followers.set(id, zone);
        pending.push(zone);
      }
    }
  }

  const blocks = [...content.content, ...outermostBlocks(content.root)];
  claim(blocks);
  // The remaining zones name no block, or a block that is inside themselves.
  for (const [owner, zone] of zones) {
    zones.delete(owner);
    claim(zone);
    blocks.push(...zone);
  }
  return { blocks, followers };
}

/** Returns the blocks anywhere in a value that are not inside another block of it. */
function outermostBlocks(root: StepContent['root']): Block[] {
  const found: Block[] = [];
  let outer: string | undefined;
  for (const { block, path } of stepBlocks({ content: [], root })) {
    if (outer !== undefined && path.startsWith(`${outer}.props`)) continue;
    outer = path;
    found.push(block);
  }
  return found;
}
