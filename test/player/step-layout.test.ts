import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stepLayout } from '../../player/lesson/step-layout.ts';
import { stepBlocks } from '../../shared/lessons/blocks.ts';
import type { Block, StepContent } from '../../shared/lessons/lesson-content.ts';

function text(id: string, props: Record<string, unknown> = {}): Block {
  return { type: 'Text', props: { id, ...props } };
}

function layoutOf(content: Partial<StepContent>) {
  const { blocks, followers } = stepLayout({ content: [], root: {}, ...content });
  return {
    blocks: blocks.map(({ props }) => props.id),
    followers: Object.fromEntries(
      [...followers].map(([owner, zone]) => [owner, zone.map(({ props }) => props.id)]),
    ),
  };
}

describe('the order of blocks in a step', () => {
  it('blocks of content come first, then those in slots of root, then those of its zones', () => {
    const content = {
      content: [text('a')],
      root: { props: { footer: [text('b', { body: [text('inside b')] })] } },
      zones: { 'root:rest': [text('c')] },
    };
    expect(layoutOf(content)).toEqual({ blocks: ['a', 'b', 'c'], followers: {} });
  });

  it('the blocks of a zone follow the block that the zone names, also in a slot or another zone', () => {
    const content = {
      content: [text('a', { body: [text('b')] })],
      zones: { 'b:left': [text('c')], 'b:right': [text('d')], 'c:deep': [text('e')] },
    };
    expect(layoutOf(content)).toEqual({ blocks: ['a'], followers: { b: ['c', 'd'], c: ['e'] } });
  });

  it('no block is lost or shown twice, whatever the zones name', () => {
    const ids = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'root', '');
    const name = fc.tuple(ids, fc.constantFrom('x', 'y')).map(([id, zone]) => `${id}:${zone}`);
    const shapes = fc.record({
      content: fc.array(fc.nat(2), { maxLength: 3 }),
      zones: fc.dictionary(name, fc.array(fc.nat(2), { maxLength: 3 })),
    });
    fc.assert(
      fc.property(shapes, (shape) => {
        const free = ['a', 'b', 'c', 'd', 'e', 'f'];
        const build = (nested: number): Block => {
          const body: Block[] = nested > 0 ? [build(nested - 1)] : [];
          return text(free.shift() ?? `n${Math.random()}`, { body });
        };
        const content: StepContent = {
          content: shape.content.map(build),
          root: {},
          zones: Object.fromEntries(
            Object.entries(shape.zones).map(([zone, blocks]) => [zone, blocks.map(build)]),
          ),
        };
        const all = [...stepBlocks(content)].map(({ block }) => block.props.id).sort();
        const { blocks, followers } = stepLayout(content);
        expect(shown(blocks, followers).sort()).toEqual(all);
      }),
    );
  });
});

/** Returns the ids of the blocks in page order. */
function shown(blocks: Block[], followers: ReadonlyMap<string, Block[]>): string[] {
  return blocks.flatMap((block) => [
    block.props.id,
    ...shown(block.props.body as Block[], followers),
    ...shown(followers.get(block.props.id) ?? [], followers),
  ]);
}
