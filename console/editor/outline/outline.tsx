import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Icon } from '../../kit/icon.tsx';
import { Menu } from '../../kit/menu.tsx';
import { orToast } from '../../kit/toast.tsx';
import { t } from '../../shell/text.ts';
import { addSection, addStep, changeMembers } from '../model/commands.ts';
import { blocksIn, clipboardText } from '../model/clipboard.ts';
import { sectionById } from '../model/edit-outline.ts';
import type { EditorStore } from '../model/editor-store.ts';
import { useDrag } from './drag.ts';
import { actionsOf, duplicateRow, moveRow, pasteBlocks, removeRow } from './actions.ts';
import { RowView } from './row-view.tsx';
import { keyOf, rowsOf } from './rows.ts';
import type { Row } from './rows.ts';

/** The sections and steps of a lesson, and the blocks of the open step, as a tree. */
export function Outline({
  store,
  onOpenForm,
  onInsert,
}: {
  store: EditorStore;
  /** Moves on to the form of what is selected. */
  onOpenForm: () => void;
  /** Opens the menu of blocks for what is selected. */
  onInsert: () => void;
}): JSX.Element {
  const tree = useRef<HTMLDivElement>(null);
  const [renamedKey, setRenamed] = useState<string | null>(null);
  const [focusedKey, setFocused] = useState<string | null>(null);
  const { rows, selectedKey, setExpanded, select } = useRows(store);
  // A row that moves, appears or follows from an undo gets the focus, if the outline has it.
  useEffect(() => {
    setFocused(selectedKey);
    if (tree.current?.contains(document.activeElement)) focusRow(tree.current, selectedKey);
  }, [selectedKey, rows.length]);
  const active =
    rows.find(({ key }) => key === focusedKey) ?? rows.find(({ key }) => key === selectedKey) ?? rows[0];
  const rename = (row: Row) => (isPart(row) ? setRenamed(row.key) : onOpenForm());
  const finishRename = (row: Row, title: string | null) => {
    setRenamed(null);
    if (title !== null) renameRow(store, row, title);
    if (tree.current !== null) focusRow(tree.current, row.key);
  };
  const focus = (row: Row | undefined | null) => {
    if (row === undefined || row === null || tree.current === null) return;
    setFocused(row.key);
    focusRow(tree.current, row.key);
  };
  const menuOf = (row: Row) => actionsOf(store, row, { onRename: () => rename(row), onInsert });
  const onPointerDown = useDrag(store, rows);
  const onKeyDown = (event: KeyboardEvent) => {
    if (active === undefined || !isRow(event.target)) return;
    const run = keyActions({ store, rows, row: active, focus, setExpanded, rename, onOpenForm, onInsert })[
      keyName(event)
    ];
    if (run !== undefined) event.preventDefault();
    void run?.();
  };
  return (
    <>
      <div class="outline-head">
        <h2>{t('editor.outline.title')}</h2>
        <AddMenu store={store} onInsert={onInsert} />
      </div>
      <div
        ref={tree}
        class="outline"
        role="tree"
        aria-label={t('editor.outline.title')}
        onKeyDown={onKeyDown}
        onPointerDown={onPointerDown}
        {...clipboardEvents(store, active)}
      >
        {rows.map((row) => (
          <RowView
            key={row.key}
            row={row}
            isSelected={row.key === selectedKey}
            isActive={row.key === active?.key}
            onFocus={() => setFocused(row.key)}
            onPress={() => select(row)}
            onToggle={() => setExpanded(row, row.isExpanded !== true)}
            menu={row.key === selectedKey ? menuOf(row) : null}
            findings={countBelow(store, row)}
            rename={row.key === renamedKey ? (title) => finishRename(row, title) : null}
          />
        ))}
      </div>
    </>
  );
}

function isPart({ kind }: Row): boolean {
  return kind === 'section' || kind === 'step';
}

function renameRow(store: EditorStore, { selection }: Row, title: string): void {
  if (selection.kind === 'section' || selection.kind === 'step') changeMembers(store, selection, { title });
}

/** What the keys of the clipboard do at a row. */
function clipboardEvents(store: EditorStore, row: Row | undefined) {
  return {
    onCopy: (event: ClipboardEvent) => void copyRow(event, row),
    onCut: (event: ClipboardEvent) => {
      if (copyRow(event, row) && row !== undefined) removeRow(store, row);
    },
    onPaste: (event: ClipboardEvent) => {
      const blocks = blocksIn(event.clipboardData?.getData('text/plain') ?? '');
      if (blocks.length === 0 || row === undefined || !isRow(event.target)) return;
      event.preventDefault();
      store.select(row.selection);
      pasteBlocks(store, blocks);
    },
  };
}

/** Puts the block of a row in the clipboard. @returns whether it is one */
function copyRow(event: ClipboardEvent, row: Row | undefined): boolean {
  if (row === undefined || row.node === null || !isRow(event.target)) return false;
  event.clipboardData?.setData('text/plain', clipboardText([row.node.block]));
  event.preventDefault();
  return true;
}

/** Returns how many findings the row stands for, with those of rows below it that are not shown. */
function countBelow(store: EditorStore, { selection, isExpanded }: Row): number {
  const findings = store.findings.value;
  if (selection.kind === 'step') return findings.filter(({ stepId }) => stepId === selection.id).length;
  if (selection.kind === 'block')
    return findings.filter(({ stepId, blockId }) => stepId === selection.stepId && blockId === selection.id)
      .length;
  if (selection.kind !== 'section' || isExpanded !== false) return 0;
  const steps = sectionById(store.skeleton.value, selection.id)?.steps ?? [];
  const ids = new Set(steps.map(({ id }) => id));
  return findings.filter(({ stepId }) => stepId !== undefined && ids.has(stepId)).length;
}

/** What the outline shows, and which of it is open. */
function useRows(store: EditorStore): {
  rows: readonly Row[];
  selectedKey: string;
  setExpanded: (row: Row, isExpanded: boolean) => void;
  select: (row: Row) => void;
} {
  const [collapsedSections, setCollapsed] = useState<ReadonlySet<string>>(new Set());
  const [closedStepId, setClosedStep] = useState<string | null>(null);
  const openId = store.openStepId.value;
  const content = store.openStep.value;
  const rows = rowsOf(store.skeleton.value, {
    collapsedSections,
    stepId: openId === closedStepId ? null : openId,
    tree: content && store.blocksOf(content),
  });
  useEffect(() => {
    if (openId !== null) void orToast(() => store.requireStep(openId));
    setClosedStep(null);
  }, [openId]);
  const select = (row: Row) => {
    store.select(row.selection);
    setClosedStep(null);
  };
  const setExpanded = (row: Row, isExpanded: boolean) => {
    if (row.selection.kind === 'section') {
      const next = new Set(collapsedSections);
      if (isExpanded) next.delete(row.selection.id);
      else next.add(row.selection.id);
      setCollapsed(next);
    } else if (row.selection.kind === 'step') {
      if (isExpanded) select(row);
      else setClosedStep(row.selection.id);
    }
  };
  return { rows, selectedKey: keyOf(store.document.value.selection), setExpanded, select };
}

function isRow(target: EventTarget | null): boolean {
  return target instanceof Element && target.role === 'treeitem';
}

function focusRow(tree: HTMLElement, key: string): void {
  const row = [...tree.querySelectorAll<HTMLElement>('[role=treeitem]')].find(
    ({ dataset }) => dataset.key === key,
  );
  row?.focus();
}

/** Returns a key with its modifiers, such as `Alt+ArrowUp`. */
function keyName({ key, altKey, ctrlKey, metaKey, shiftKey }: KeyboardEvent): string {
  const modifiers = [
    ...[(ctrlKey || metaKey) && 'Ctrl', altKey && 'Alt', shiftKey && key.length > 1 && 'Shift'],
  ].filter(Boolean);
  return [...modifiers, key.length === 1 ? key.toLowerCase() : key].join('+');
}

/** What the keys do at a row: those of the ARIA tree pattern, and those of editing. */
function keyActions({
  store,
  rows,
  row,
  focus,
  setExpanded,
  rename,
  onOpenForm,
  onInsert,
}: {
  store: EditorStore;
  rows: readonly Row[];
  row: Row;
  focus: (row: Row | undefined | null) => void;
  setExpanded: (row: Row, isExpanded: boolean) => void;
  rename: (row: Row) => void;
  onOpenForm: () => void;
  onInsert: () => void;
}): Record<string, (() => unknown) | undefined> {
  const at = rows.indexOf(row);
  const inwards = () =>
    row.isExpanded === false ? setExpanded(row, true) : row.isExpanded && focus(rows[at + 1]);
  const outwards = () =>
    row.isExpanded && (row.kind === 'section' || row.kind === 'step')
      ? setExpanded(row, false)
      : focus(row.parent);
  const isRtl = document.documentElement.dir === 'rtl';
  return {
    ArrowDown: () => focus(rows[at + 1]),
    ArrowUp: () => focus(rows[at - 1]),
    ArrowRight: isRtl ? outwards : inwards,
    ArrowLeft: isRtl ? inwards : outwards,
    Home: () => focus(rows[0]),
    End: () => focus(rows.at(-1)),
    ' ': () => store.select(row.selection),
    Enter: () => {
      store.select(row.selection);
      if (row.kind !== 'step') onOpenForm();
    },
    F2: () => rename(row),
    '/': () => {
      store.select(row.selection);
      onInsert();
    },
    'Alt+ArrowDown': () => moveRow(store, row, 1),
    'Alt+ArrowUp': () => moveRow(store, row, -1),
    'Ctrl+d': () => duplicateRow(store, row),
    Delete: () => removeRow(store, row),
    Backspace: () => removeRow(store, row),
  };
}

/** Adds blocks, steps and sections. */
function AddMenu({ store, onInsert }: { store: EditorStore; onInsert: () => void }): JSX.Element {
  const openId = store.openStepId.value;
  const { selection } = store.document.value;
  const title = t('editor.outline.new_step');
  const after =
    selection.kind === 'section' ? { sectionId: selection.id } : openId === null ? null : { stepId: openId };
  return (
    <Menu
      buttonClass="button is-quiet is-small"
      items={[
        ...(after === null
          ? []
          : [
              { label: t('editor.outline.add_block'), onSelect: onInsert },
              { label: t('editor.outline.add_step'), onSelect: () => addStep(store, title, after) },
            ]),
        {
          label: t('editor.outline.add_section'),
          onSelect: () => addSection(store, { section: t('editor.outline.new_section'), step: title }),
        },
      ]}
    >
      <Icon name="plus" />
      <span>{t('editor.outline.add')}</span>
    </Menu>
  );
}
