import type { JSX } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import { Icon } from '../../kit/icon.tsx';
import { Menu } from '../../kit/menu.tsx';
import type { MenuItem } from '../../kit/menu.tsx';
import { t } from '../../shell/text.ts';
import type { Row } from './rows.ts';

/** A line of the outline, with its menu while it is selected. */
export function RowView({
  row,
  isSelected,
  isActive,
  onPress,
  onFocus,
  onToggle,
  menu,
  findings,
  rename,
}: {
  row: Row;
  isSelected: boolean;
  isActive: boolean;
  onPress: () => void;
  onFocus: () => void;
  onToggle: () => void;
  /** Null for a row that is not selected. */
  menu: readonly (MenuItem | null)[] | null;
  /** The number of findings below the row. */
  findings: number;
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
      aria-labelledby={rename === null ? `${labelId} ${labelId}-count` : undefined}
      aria-label={rename === null ? undefined : label}
      aria-level={level}
      aria-posinset={row.position}
      aria-setsize={row.siblings}
      aria-selected={isSelected}
      aria-expanded={isExpanded ?? undefined}
      onFocus={onFocus}
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
          <span>{label || t('editor.outline.untitled')}</span>
          {detail !== null && <small> {detail}</small>}
        </span>
      ) : (
        <RenameField title={label} onDone={rename} />
      )}
      {findings > 0 && (
        <span class="outline-count" id={`${labelId}-count`}>
          <span aria-hidden="true">{findings}</span>
          <span class="hidden-text">{t('editor.check.count', { count: findings })}</span>
        </span>
      )}
      {menu !== null && menu.length > 0 && <RowMenu row={row} items={menu} />}
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
  useLayoutEffect(() => {
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

function RowMenu({ row, items }: { row: Row; items: readonly (MenuItem | null)[] }): JSX.Element {
  return (
    <Menu label={t('editor.outline.actions', { title: row.label })} items={items}>
      <Icon name="more" />
    </Menu>
  );
}
