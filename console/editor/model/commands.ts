import { topList } from './blocks.ts';
import type { Block, BlockNode, Path, Slot, StepContent } from './blocks.ts';
import {
  copyOf,
  placeOf,
  samePath,
  withBlockMoved,
  withBlocks,
  withoutBlock,
  withProps,
} from './edit-blocks.ts';
import type { BlockPlace } from './edit-blocks.ts';
import {
  placeOfStep,
  sectionById,
  stepById,
  withMembers,
  withSection,
  withSectionAt,
  withStep,
  withStepAt,
  withStepMoved,
  withoutSection,
  withoutStep,
} from './edit-outline.ts';
import type { StepPlace } from './edit-outline.ts';
import type { EditorStore } from './editor-store.ts';
import { stepKey, stepOf } from './lesson-document.ts';
import type { PartKey, Selection, Skeleton } from './lesson-document.ts';

/* What authors do to a lesson. Each is one edit. */

const emptyStep: StepContent = { content: [], root: {} };

function editSkeleton(
  store: EditorStore,
  skeleton: Skeleton,
  options?: { select?: Selection; mergeKey?: string },
): void {
  store.edit([['skeleton', skeleton]], options);
}

function editStep(
  store: EditorStore,
  stepId: string,
  content: StepContent,
  options?: { select?: Selection; mergeKey?: string },
): void {
  store.edit([[stepKey(stepId), content]], options);
}

/** Returns the content of a step that is loaded. */
function loaded(store: EditorStore, stepId: string): StepContent {
  return stepOf(store.document.peek(), stepId) ?? emptyStep;
}

/** Adds a section with one empty step after the selected one, or at the end. */
export function addSection(store: EditorStore, titles: { section: string; step: string }): void {
  const skeleton = store.skeleton.peek();
  const open = store.openStepId.peek();
  const { selection } = store.document.peek();
  const current =
    selection.kind === 'section'
      ? selection.id
      : open === null
        ? undefined
        : placeOfStep(skeleton, open)?.sectionId;
  const at = skeleton.sections.findIndex(({ id }) => id === current);
  const step = { id: crypto.randomUUID(), title: titles.step };
  const section = { id: crypto.randomUUID(), title: titles.section, steps: [step] };
  store.edit(
    [
      [stepKey(step.id), emptyStep],
      ['skeleton', withSection(skeleton, section, at === -1 ? skeleton.sections.length : at + 1)],
    ],
    { select: { kind: 'section', id: section.id } },
  );
}

/** Adds an empty step after a step, or at the end of a section. */
export function addStep(
  store: EditorStore,
  title: string,
  after: { sectionId: string } | { stepId: string },
): void {
  const skeleton = store.skeleton.peek();
  const place =
    'stepId' in after
      ? placeOfStep(skeleton, after.stepId)
      : {
          sectionId: after.sectionId,
          index: (sectionById(skeleton, after.sectionId)?.steps.length ?? 0) - 1,
        };
  if (place === undefined) return;
  const step = { id: crypto.randomUUID(), title };
  store.edit(
    [
      [stepKey(step.id), emptyStep],
      ['skeleton', withStep(skeleton, step, { ...place, index: place.index + 1 })],
    ],
    { select: { kind: 'step', id: step.id } },
  );
}

/** Changes members of a section or step. Typing one title is one edit. */
export function changeMembers(
  store: EditorStore,
  part: { kind: 'section' | 'step'; id: string },
  members: Record<string, unknown>,
): void {
  editSkeleton(store, withMembers(store.skeleton.peek(), part, members), {
    mergeKey: `${part.kind} ${part.id} ${Object.keys(members).join(' ')}`,
  });
}

/** Changes members of the lesson, such as the title. Undefined removes one. */
export function changeLesson(store: EditorStore, members: Record<string, unknown>): void {
  const skeleton = store.skeleton.peek();
  const entries = Object.entries({ ...skeleton.lesson, ...members }).filter(
    ([, value]) => value !== undefined,
  );
  const lesson = Object.fromEntries(entries) as Skeleton['lesson'];
  editSkeleton(store, { ...skeleton, lesson }, { mergeKey: `lesson ${Object.keys(members).join(' ')}` });
}

export function removeSection(store: EditorStore, id: string): void {
  const skeleton = store.skeleton.peek();
  const at = skeleton.sections.findIndex((section) => section.id === id);
  const next = skeleton.sections[at + 1] ?? skeleton.sections[at - 1];
  editSkeleton(store, withoutSection(skeleton, id), {
    select: next === undefined ? { kind: 'lesson' } : { kind: 'section', id: next.id },
  });
}

export function removeStep(store: EditorStore, id: string): void {
  const skeleton = store.skeleton.peek();
  const place = placeOfStep(skeleton, id);
  if (place === undefined) return;
  const { steps = [] } = sectionById(skeleton, place.sectionId) ?? {};
  const next = steps[place.index + 1] ?? steps[place.index - 1];
  editSkeleton(store, withoutStep(skeleton, id), {
    select: next === undefined ? { kind: 'section', id: place.sectionId } : { kind: 'step', id: next.id },
  });
}

/** Copies a step after itself. Ids of blocks are unique in a step only, so they stay. @throws {ApiError} */
export async function duplicateStep(store: EditorStore, id: string, title: string): Promise<void> {
  const content = await store.requireStep(id);
  const skeleton = store.skeleton.peek();
  const place = placeOfStep(skeleton, id);
  if (place === undefined) return;
  const step = { ...stepById(skeleton, id), id: crypto.randomUUID(), title };
  store.edit(
    [
      [stepKey(step.id), content],
      ['skeleton', withStep(skeleton, step, { ...place, index: place.index + 1 })],
    ],
    { select: { kind: 'step', id: step.id } },
  );
}

/** Copies a section after itself, with its steps. @throws {ApiError} */
export async function duplicateSection(store: EditorStore, id: string, title: string): Promise<void> {
  const { steps = [] } = sectionById(store.skeleton.peek(), id) ?? {};
  const contents = await Promise.all(steps.map((step) => store.requireStep(step.id)));
  const skeleton = store.skeleton.peek();
  const at = skeleton.sections.findIndex((section) => section.id === id);
  const copied = steps.map((step) => ({ ...step, id: crypto.randomUUID() }));
  const section = { ...skeleton.sections[at], id: crypto.randomUUID(), title, steps: copied };
  store.edit(
    [
      ...copied.map((step, index): [PartKey, StepContent] => [
        stepKey(step.id),
        contents[index] ?? emptyStep,
      ]),
      ['skeleton', withSection(skeleton, section, at + 1)],
    ],
    { select: { kind: 'section', id: section.id } },
  );
}

export function moveSection(store: EditorStore, id: string, by: 1 | -1): void {
  const skeleton = store.skeleton.peek();
  const at = skeleton.sections.findIndex((section) => section.id === id);
  moveSectionTo(store, id, at + by);
}

/** @param index counts without the section */
export function moveSectionTo(store: EditorStore, id: string, index: number): void {
  editSkeleton(store, withSectionAt(store.skeleton.peek(), id, index));
}

export function moveStep(store: EditorStore, id: string, by: 1 | -1): void {
  editSkeleton(store, withStepMoved(store.skeleton.peek(), id, by));
}

/** @param place its index counts without the step */
export function moveStepTo(store: EditorStore, id: string, place: StepPlace): void {
  editSkeleton(store, withStepAt(store.skeleton.peek(), id, place));
}

/** Inserts blocks, with new ids where theirs are taken in the step. Selects the first. */
export function insertBlocks(
  store: EditorStore,
  stepId: string,
  place: BlockPlace,
  blocks: readonly Block[],
): void {
  const content = loaded(store, stepId);
  const taken = new Set(store.blocksOf(content).byId.keys());
  const fresh = blocks.map((block) => copyOf(block, (id) => taken.has(id)));
  const [first] = fresh;
  if (first === undefined) return;
  editStep(store, stepId, withBlocks(content, place, fresh), {
    select: { kind: 'block', stepId, id: first.props.id },
  });
}

export function removeBlock(store: EditorStore, stepId: string, node: BlockNode): void {
  const content = loaded(store, stepId);
  const { list, index } = placeOf(node);
  const next = withoutBlock(content, node.path);
  const others = [...store.blocksOf(next).byId.values()];
  const beside = others.filter(({ path }) => path.slice(0, -1).join() === list.join());
  const neighbor = beside.find(({ path }) => Number(path.at(-1)) >= index) ?? beside.at(-1);
  editStep(store, stepId, next, {
    select:
      neighbor === undefined
        ? { kind: 'step', id: stepId }
        : { kind: 'block', stepId, id: neighbor.block.props.id },
  });
}

export function duplicateBlock(store: EditorStore, stepId: string, node: BlockNode): void {
  const { list, index } = placeOf(node);
  insertBlocks(store, stepId, { list, index: index + 1 }, [node.block]);
}

export function moveBlock(store: EditorStore, stepId: string, node: BlockNode, by: 1 | -1): void {
  editStep(store, stepId, withBlockMoved(loaded(store, stepId), node, by, store.fieldsOf));
}

/** Moves a block within its step, before or after another one. @param beside.after 1 for after it */
export function moveBlockBeside(
  store: EditorStore,
  stepId: string,
  node: BlockNode,
  { id, after }: { id: string; after: 0 | 1 },
): void {
  const rest = withoutBlock(loaded(store, stepId), node.path);
  const other = store.blocksOf(rest).byId.get(id);
  if (other === undefined) return;
  const { list, index } = placeOf(other);
  const place = { list, index: index + after };
  if (samePath(list, node.path.slice(0, -1)) && place.index === placeOf(node).index) return;
  editStep(store, stepId, withBlocks(rest, place, [node.block]));
}

/** Moves a block within its step to the end of a list. @param slot null for that of the step itself */
export function moveBlockInto(store: EditorStore, stepId: string, node: BlockNode, slot: Slot | null): void {
  const content = loaded(store, stepId);
  const owner = slot && [...store.blocksOf(content).byId.values()].find(({ slots }) => slots.includes(slot));
  const rest = withoutBlock(content, node.path);
  const tree = store.blocksOf(rest);
  // The owner may have another path without the block.
  const index = owner?.slots.indexOf(slot as Slot) ?? 0;
  const target = owner && tree.byId.get(owner.block.props.id)?.slots[index];
  if (owner && target === undefined) return;
  const place = target
    ? { list: target.path, index: target.nodes.length }
    : { list: topList, index: tree.nodes.length };
  editStep(store, stepId, withBlocks(rest, place, [node.block]));
}

/** Changes the props of a block. Changes of one path that follow each other are one edit. */
export function changeProps(
  store: EditorStore,
  stepId: string,
  node: BlockNode,
  props: Block['props'],
  path: Path,
): void {
  editStep(store, stepId, withProps(loaded(store, stepId), node.path, props), {
    mergeKey: JSON.stringify([stepId, node.block.props.id, ...path]),
  });
}
