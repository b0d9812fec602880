import { readFile } from 'node:fs/promises';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { coreWidgetFields } from '../../shared/lessons/core-widget-fields.ts';
import type { Fields } from '../../shared/lessons/widget-fields.ts';
import { readBlocks, valueAt } from '../../console/editor/model/blocks.ts';
import type { Block, Path, StepContent } from '../../console/editor/model/blocks.ts';
import {
  withBlockMoved,
  withBlocks,
  withProps,
  withoutBlock,
} from '../../console/editor/model/edit-blocks.ts';
import { withStepMoved } from '../../console/editor/model/edit-outline.ts';
import { edit, redo, stepKey, undo } from '../../console/editor/model/lesson-document.ts';
import type { LessonDocument, PartKey, Skeleton } from '../../console/editor/model/lesson-document.ts';

const fieldsOf = (type: string): Fields | null =>
  Object.hasOwn(coreWidgetFields, type) ? coreWidgetFields[type as keyof typeof coreWidgetFields] : null;

/** Props of any widget, also ones that nobody defines, and names that JavaScript treats in its own way. */
const anyProps = fc.dictionary(
  fc.oneof(fc.string(), fc.constantFrom('html', 'text', 'level', 'constructor', 'toString')),
  fc.jsonValue({ maxDepth: 2 }),
  { maxKeys: 4 },
);
const ids = fc.uuid();
const { block } = fc.letrec<{ block: Block }>((tie) => {
  const blocks = fc.array(tie('block'), { maxLength: 3 });
  const withSlots = (type: string, slots: fc.Arbitrary<Record<string, unknown>>) =>
    fc.tuple(ids, anyProps, slots).map(([id, props, own]) => ({ type, props: { ...props, ...own, id } }));
  return {
    block: fc.oneof(
      { maxDepth: 3 },
      fc
        .tuple(fc.constantFrom('Text', 'Heading', 'MultipleChoice', 'Dial'), ids, anyProps)
        .map(([type, id, props]) => ({ type, props: { ...props, id } })),
      withSlots('Callout', fc.record({ body: blocks })),
      withSlots('Columns', fc.record({ columns: fc.array(blocks, { maxLength: 3 }) })),
      withSlots(
        'Tabs',
        fc.record({ tabs: fc.array(fc.record({ title: fc.string(), body: blocks }), { maxLength: 2 }) }),
      ),
      withSlots('Carousel', fc.record({ slides: blocks })),
    ),
  };
});
const content = fc
  .tuple(fc.array(block, { maxLength: 4 }), fc.array(block, { maxLength: 2 }), anyProps)
  .map(([top, zone, root]): StepContent => {
    const [first] = top;
    return { content: top, root, ...(first && { zones: { [`${first.props.id}:old`]: zone, other: [] } }) };
  });

/** Returns the paths at which two JSON values differ. */
function differences(one: unknown, other: unknown, path: Path = []): Path[] {
  if (Object.is(one, other)) return [];
  const isContainer = (value: unknown) => typeof value === 'object' && value !== null;
  if (!isContainer(one) || !isContainer(other) || Array.isArray(one) !== Array.isArray(other)) return [path];
  const [a, b] = [one as Record<string, unknown>, other as Record<string, unknown>];
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...names].flatMap((name) => differences(a[name], b[name], [...path, name]));
}

function documentOf(step: StepContent): LessonDocument {
  const sections = ['a', 'b'].map((id) => ({ id, title: id, steps: [{ id: `${id}1`, title: '' }] }));
  return {
    parts: new Map<PartKey, Skeleton | StepContent>([
      ['skeleton', { lesson: { title: 'Tides' }, sections }],
      [stepKey('a1'), step],
    ]),
    ...{ done: [], undone: [], selection: { kind: 'lesson' } },
  };
}

test('in 1,000 lessons, a change of one prop changes exactly that path, and undo brings back the same object', () => {
  fc.assert(
    fc.property(content, fc.nat(), fc.string(), (step, at, value) => {
      const text = JSON.stringify(step);
      const nodes = [...readBlocks(step, fieldsOf).byId.values()];
      const node = nodes[at % Math.max(1, nodes.length)];
      if (node === undefined) return;
      const changed = withProps(step, node.path, { ...node.block.props, changed: { value } });
      expect(differences(step, changed)).toEqual([[...node.path, 'props', 'changed'].map(String)]);
      const before = documentOf(step);
      const after = edit(before, [[stepKey('a1'), changed]]);
      expect(undo(after).parts.get(stepKey('a1'))).toBe(step);
      expect(JSON.stringify(step)).toBe(text);
    }),
    { numRuns: 1_000 },
  );
});

test('moving a block down leads through all places and loses no block, and 200 moves can be undone and done again', () => {
  fc.assert(
    fc.property(content, fc.nat(), (step, at) => {
      const nodes = [...readBlocks(step, fieldsOf).byId.values()];
      const chosen = nodes[at % Math.max(1, nodes.length)];
      if (chosen === undefined) return;
      const { id } = chosen.block.props;
      const allIds = (value: StepContent) => [...readBlocks(value, fieldsOf).byId.keys()].sort();
      let document = documentOf(step);
      for (let move = 0; move < 200; move += 1) {
        const present = document.parts.get(stepKey('a1')) as StepContent;
        const node = readBlocks(present, fieldsOf).byId.get(id);
        if (node === undefined) throw new Error('the block is lost');
        const moved = withBlockMoved(present, node, move % 7 === 0 ? -1 : 1, fieldsOf);
        document = edit(document, [[stepKey('a1'), moved]]);
      }
      const last = document.parts.get(stepKey('a1')) as StepContent;
      expect(allIds(last)).toEqual(allIds(step));
      const depth = document.done.length;
      for (let back = 0; back < depth; back += 1) document = undo(document);
      expect(document.parts.get(stepKey('a1'))).toBe(step);
      for (let again = 0; again < depth; again += 1) document = redo(document);
      expect(document.parts.get(stepKey('a1'))).toBe(last);
    }),
    { numRuns: 30 },
  );
});

test('typing into one prop is one edit, until the author pauses or changes another', () => {
  const step: StepContent = { content: [{ type: 'Text', props: { id: 't', html: '' } }] };
  const [node] = readBlocks(step, fieldsOf).nodes;
  if (node === undefined) throw new Error('no block');
  let document = documentOf(step);
  const type = (html: string, mergeKey: string, at: number) => {
    const next = withProps(step, node.path, { ...node.block.props, html });
    document = edit(document, [[stepKey('a1'), next]], { mergeKey, at });
  };
  type('a', 'html', 0);
  type('ab', 'html', 1_000);
  type('abc', 'html', 2_000);
  expect(document.done).toHaveLength(1);
  type('abcd', 'html', 60_000);
  type('abcde', 'other', 60_100);
  expect(document.done).toHaveLength(3);
  expect(undo(undo(undo(document))).parts.get(stepKey('a1'))).toBe(step);
});

test('a step moves into the next section, and order_index follows', () => {
  const steps = (id: string) => [{ id, title: id, order_index: 7 }];
  const skeleton = {
    lesson: { title: 'Tides' },
    sections: ['a', 'b'].map((id, index) => ({ id, title: id, order_index: index, steps: steps(`${id}1`) })),
  };
  const moved = withStepMoved(skeleton, 'a1', 1);
  expect(
    moved.sections.map((section) => section.steps.map(({ id, order_index }) => [id, order_index])),
  ).toEqual([
    [],
    [
      ['a1', 0],
      ['b1', 1],
    ],
  ]);
});

test('each block of the demo lesson is found where it is, and can be taken out and put back', async () => {
  const path = new URL('../../demo/lesson/lesson.json', import.meta.url);
  const { sections } = JSON.parse(await readFile(path, 'utf8')) as {
    sections: { steps: { content: StepContent }[] }[];
  };
  const steps = sections.flatMap((section) => section.steps.map((step) => step.content));
  expect(steps.length).toBeGreaterThan(3);
  for (const step of steps) {
    for (const { block: found, path: at } of readBlocks(step, fieldsOf).byId.values()) {
      expect(valueAt(step, at)).toBe(found);
      const place = { list: at.slice(0, -1), index: Number(at.at(-1)) };
      expect(withBlocks(withoutBlock(step, at), place, [found])).toEqual(step);
    }
  }
});
