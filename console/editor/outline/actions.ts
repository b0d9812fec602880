import { listOf } from '../../../shared/lessons/json-values.ts';
import type { MenuItem } from '../../kit/menu.tsx';
import { orToast, toast } from '../../kit/toast.tsx';
import { t } from '../../shell/text.ts';
import type { Block } from '../model/blocks.ts';
import { clipboardText, lastCopied } from '../model/clipboard.ts';
import {
  changeProps,
  duplicateBlock,
  duplicateSection,
  duplicateStep,
  insertBlocks,
  moveBlock,
  moveSection,
  moveStep,
  removeBlock,
  removeSection,
  removeStep,
} from '../model/commands.ts';
import type { EditorStore } from '../model/editor-store.ts';
import { placeForNew } from './insert-menu.tsx';
import type { Row } from './rows.ts';

/** Moves what a row stands for by one place. */
export function moveRow(store: EditorStore, { selection, node, stepId }: Row, by: 1 | -1): void {
  store.select(selection);
  if (selection.kind === 'section') moveSection(store, selection.id, by);
  else if (selection.kind === 'step') moveStep(store, selection.id, by);
  else if (node !== null && stepId !== null) moveBlock(store, stepId, node, by);
}

/** Copies what a row stands for after itself. */
export async function duplicateRow(
  store: EditorStore,
  { selection, node, stepId, label }: Row,
): Promise<void> {
  const title = t('editor.outline.copy_of', { title: label });
  await orToast(async () => {
    if (selection.kind === 'section') await duplicateSection(store, selection.id, title);
    else if (selection.kind === 'step') await duplicateStep(store, selection.id, title);
    else if (node !== null && stepId !== null) duplicateBlock(store, stepId, node);
  });
}

/** Deletes what a row stands for, with a notice that can undo it. */
export function removeRow(store: EditorStore, { selection, node, stepId, label }: Row): void {
  if (selection.kind === 'slot' || selection.kind === 'lesson') return;
  if (selection.kind === 'section') removeSection(store, selection.id);
  else if (selection.kind === 'step') removeStep(store, selection.id);
  else if (node !== null && stepId !== null) removeBlock(store, stepId, node);
  const removed = store.document.peek().done.at(-1);
  toast(t('editor.outline.deleted', { title: label }), 'done', {
    label: t('lesson.undo'),
    run: () => {
      // Later edits would be undone first.
      if (store.document.peek().done.at(-1) === removed) store.undo();
      else toast(t('editor.outline.undo_first'));
    },
  });
}

/** Inserts copied blocks at what is selected. */
export function pasteBlocks(store: EditorStore, blocks: readonly Block[]): void {
  const target = placeForNew(store);
  if (target !== null) insertBlocks(store, target.stepId, target.place, blocks);
}

/** Returns the menu of a row. */
export function actionsOf(
  store: EditorStore,
  row: Row,
  { onRename, onInsert }: { onRename: () => void; onInsert: () => void },
): (MenuItem | null)[] {
  const { kind, node } = row;
  const insert: MenuItem[] =
    kind === 'section'
      ? []
      : [
          { label: t('editor.outline.add_block'), icon: 'plus', onSelect: onInsert },
          ...(lastCopied().length === 0
            ? []
            : [{ label: t('editor.outline.paste'), onSelect: () => pasteBlocks(store, lastCopied()) }]),
        ];
  if (kind === 'slot') return [...insert, ...columnActions(store, row)];
  return [
    ...insert,
    ...(node === null
      ? [{ label: t('editor.outline.rename'), onSelect: onRename }]
      : [{ label: t('editor.outline.copy'), onSelect: () => copyBlock(node.block) }]),
    ...columnActions(store, row),
    { label: t('editor.outline.move_up'), onSelect: () => moveRow(store, row, -1) },
    { label: t('editor.outline.move_down'), onSelect: () => moveRow(store, row, 1) },
    { label: t('editor.outline.duplicate'), icon: 'copy', onSelect: () => duplicateRow(store, row) },
    null,
    {
      label: t('editor.outline.delete'),
      icon: 'trash',
      isDanger: true,
      onSelect: () => removeRow(store, row),
    },
  ];
}

async function copyBlock(block: Block): Promise<void> {
  const text = clipboardText([block]);
  // oxlint-disable-next-line typescript/no-unnecessary-condition -- missing without HTTPS
  await navigator.clipboard?.writeText(text).catch(() => undefined);
  toast(t('copied'));
}

/** Adds and removes columns: forms do this for panels and tabs, which have titles. */
function columnActions(store: EditorStore, { node, slot, stepId, parent }: Row): MenuItem[] {
  const owner = node ?? parent?.node ?? null;
  if (stepId === null || owner === null || owner.block.type !== 'Columns') return [];
  const columns = listOf(owner.block.props.columns);
  const change = (next: unknown[]) =>
    changeProps(store, stepId, owner, { ...owner.block.props, columns: next }, ['columns', next.length]);
  if (slot === null)
    return [{ label: t('editor.outline.add_column'), onSelect: () => change([...columns, []]) }];
  const index = Number(slot.path.at(-1));
  return [
    {
      label: t('editor.outline.delete_column'),
      icon: 'trash',
      isDanger: true,
      onSelect: () => {
        store.select({ kind: 'block', stepId, id: owner.block.props.id });
        change(columns.filter((_, at) => at !== index));
      },
    },
  ];
}
