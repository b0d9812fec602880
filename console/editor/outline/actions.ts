import type { MenuItem } from '../../kit/menu.tsx';
import { orToast, toast } from '../../kit/toast.tsx';
import { t } from '../../shell/text.ts';
import {
  duplicateBlock,
  duplicateSection,
  duplicateStep,
  moveBlock,
  moveSection,
  moveStep,
  removeBlock,
  removeSection,
  removeStep,
} from '../model/commands.ts';
import type { EditorStore } from '../model/editor-store.ts';
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

/** Returns the menu of a row. */
export function actionsOf(store: EditorStore, row: Row, onRename: () => void): (MenuItem | null)[] {
  if (row.kind === 'slot') return [];
  return [
    ...(row.kind === 'block' ? [] : [{ label: t('editor.outline.rename'), onSelect: onRename }]),
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
