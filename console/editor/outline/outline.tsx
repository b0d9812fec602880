import type { JSX } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { Icon } from '../../kit/icon.tsx';
import { Menu } from '../../kit/menu.tsx';
import { orToast } from '../../kit/toast.tsx';
import { t } from '../../shell/text.ts';
import { addSection, addStep, changeMembers } from '../model/commands.ts';
import type { EditorStore } from '../model/editor-store.ts';
import { actionsOf, removeRow, moveRow, duplicateRow } from './actions.ts';
import { keyOf, rowsOf } from './rows.ts';
import type { Row } from './rows.ts';

/** The sections and steps of a lesson, and the blocks of the open step, as a tree. */
export function Outline({
  store,
  onOpenForm,
}: {
  store: EditorStore;
  /** Moves on to the form of what is selected. */
  onOpenForm: () => void;
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
  const rename = (row: Row) => {
    if (row.kind === 'section' || row.kind === 'step') setRenamed(row.key);
    else onOpenForm();
  };
  const finishRename = (row: Row, title: string | null) => {
    setRenamed(null);
    if (title !== null && (row.selection.kind === 'section' || row.selection.kind === 'step'))
      changeMembers(store, row.selection, { title });
    if (tree.current !== null) focusRow(tree.current, row.key);
  };
  const focus = (row: Row | undefined | null) => {
    if (row === undefined || row === null || tree.current === null) return;
    setFocused(row.key);
    focusRow(tree.current, row.key);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (active === undefined || !isRow(event.target)) return;
    const run = keyActions({ store, rows, row: active, focus, setExpanded, rename, onOpenForm })[
      keyName(event)
    ];
    if (run === undefined) return;
    event.preventDefault();
    void run();
  };
  return (
    <>
      <div class="outline-head">
        <h2>{t('editor.outline.title')}</h2>
        <AddMenu store={store} />
      </div>
      <div
        ref={tree}
        class="outline"
        role="tree"
        aria-label={t('editor.outline.title')}
        onKeyDown={onKeyDown}
      >
        {rows.map((row) => (
          <RowView
            key={row.key}
            row={row}
            isSelected={row.key === selectedKey}
            isActive={row.key === active?.key}
            onPress={() => {
              setFocused(row.key);
              select(row);
            }}
            onToggle={() => setExpanded(row, row.isExpanded !== true)}
            menu={row.key === selectedKey ? <RowMenu store={store} row={row} onRename={rename} /> : null}
            rename={row.key === renamedKey ? (title) => finishRename(row, title) : null}
          />
        ))}
      </div>
    </>
  );
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
}: {
  store: EditorStore;
  rows: readonly Row[];
  row: Row;
  focus: (row: Row | undefined | null) => void;
  setExpanded: (row: Row, isExpanded: boolean) => void;
  rename: (row: Row) => void;
  onOpenForm: () => void;
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
    'Alt+ArrowDown': () => moveRow(store, row, 1),
    'Alt+ArrowUp': () => moveRow(store, row, -1),
    'Ctrl+d': () => duplicateRow(store, row),
    Delete: () => removeRow(store, row),
    Backspace: () => removeRow(store, row),
  };
}

function RowView({
  row,
  isSelected,
  isActive,
  onPress,
  onToggle,
  menu,
  rename,
}: {
  row: Row;
  isSelected: boolean;
  isActive: boolean;
  onPress: () => void;
  onToggle: () => void;
  menu: JSX.Element | null;
  /** Set while the row shows a field for its title; null keeps the old one. */
  rename: ((title: string | null) => void) | null;
}): JSX.Element {
  const { key, kind, level, isExpanded, label, detail } = row;
  const labelId = useId();
  const canToggle = isExpanded !== null && (kind === 'section' || kind === 'step');
  return (
    <div
      role="treeitem"
      class={`outline-row is-${kind} is-level-${Math.min(level, 8)}`}
      data-key={key}
      tabIndex={isActive ? 0 : -1}
      aria-labelledby={rename === null ? labelId : undefined}
      aria-label={rename === null ? undefined : label}
      aria-level={level}
      aria-posinset={row.position}
      aria-setsize={row.siblings}
      aria-selected={isSelected}
      aria-expanded={isExpanded ?? undefined}
      onClick={({ target }) => {
        // Not for the menu inside.
        if (target instanceof Element && target.closest('button, input, [role=menu]') === null) onPress();
      }}
    >
      <span
        class={`outline-toggle${isExpanded === false ? ' is-closed' : ''}`}
        aria-hidden="true"
        onClick={(event) => {
          if (!canToggle) return;
          event.stopPropagation();
          onToggle();
        }}
      >
        {canToggle && <Icon name="down" />}
      </span>
      {rename === null ? (
        <span class="outline-label" id={labelId} dir="auto">
          {label || t('editor.outline.untitled')}
          {detail !== null && <small>{detail}</small>}
        </span>
      ) : (
        <RenameField title={label} onDone={rename} />
      )}
      {menu}
    </div>
  );
}

function RenameField({
  title,
  onDone,
}: {
  title: string;
  onDone: (title: string | null) => void;
}): JSX.Element {
  const field = useRef<HTMLInputElement>(null);
  const isDone = useRef(false);
  useEffect(() => {
    field.current?.focus();
    field.current?.select();
  }, []);
  const finish = (isKept: boolean) => {
    if (isDone.current) return;
    isDone.current = true;
    const text = field.current?.value.trim() ?? '';
    onDone(isKept && text !== '' && text !== title ? text : null);
  };
  return (
    <input
      ref={field}
      class="input"
      aria-label={t('editor.outline.rename')}
      defaultValue={title}
      maxLength={300}
      onBlur={() => finish(true)}
      onKeyDown={({ key }) => {
        if (key === 'Enter') finish(true);
        if (key === 'Escape') finish(false);
      }}
    />
  );
}

function RowMenu({
  store,
  row,
  onRename,
}: {
  store: EditorStore;
  row: Row;
  onRename: (row: Row) => void;
}): JSX.Element {
  return (
    <Menu
      label={t('editor.outline.actions', { title: row.label })}
      items={actionsOf(store, row, () => onRename(row))}
    >
      <Icon name="more" />
    </Menu>
  );
}

/** Adds sections and steps. */
function AddMenu({ store }: { store: EditorStore }): JSX.Element {
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
          : [{ label: t('editor.outline.add_step'), onSelect: () => addStep(store, title, after) }]),
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
