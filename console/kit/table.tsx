import type { ComponentChildren, JSX } from 'preact';
import { Link } from '../shell/router.tsx';
import { t } from '../shell/text.ts';
import { Icon } from './icon.tsx';

export interface Column<Row> {
  label: string;
  cell: (row: Row) => ComponentChildren;
  /** For numbers. */
  isEnd?: boolean;
  /** Hidden on phones. */
  isMinor?: boolean;
  /** A column of buttons: its label is for screen readers only. */
  isActions?: boolean;
  /** The column sorts the table. */
  sort?: { direction: 'ascending' | 'descending' | undefined; onPress: () => void };
}

/**
 * A table. On phones, each row becomes a block, whose cells name their column.
 *
 * @param props.caption for screen readers
 * @param props.linkOf the path that a row opens; its first cell is the link, and the whole row can be pressed
 * @param props.rows undefined while they are loaded
 * @param props.isStale whether the rows are those of an earlier request
 */
export function Table<Row>({
  caption,
  columns,
  rows,
  rowKey,
  linkOf,
  isStale = false,
  skeletonRows = 8,
}: {
  caption: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[] | undefined;
  rowKey: (row: Row) => string;
  linkOf?: (row: Row) => string;
  isStale?: boolean;
  skeletonRows?: number;
}): JSX.Element {
  return (
    <div class="table-frame">
      <table
        class={`table${isStale ? ' is-stale' : ''}`}
        role="table"
        aria-busy={rows === undefined || isStale}
      >
        <caption class="hidden-text">{caption}</caption>
        <thead role="rowgroup">
          <tr role="row">
            {columns.map((column) => (
              <HeaderCell key={column.label} column={column} />
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {rows === undefined
            ? Array.from({ length: skeletonRows }, (_, index) => (
                <SkeletonRow key={index} columns={columns} index={index} />
              ))
            : rows.map((row) => (
                <tr key={rowKey(row)} role="row" class={linkOf && 'is-link'}>
                  {columns.map((column, index) => (
                    <td key={column.label} role="cell" class={classOf(column)} data-label={column.label}>
                      {index === 0 && linkOf ? (
                        <Link to={linkOf(row)} class="row-link">
                          {column.cell(row)}
                        </Link>
                      ) : (
                        column.cell(row)
                      )}
                    </td>
                  ))}
                </tr>
              ))}
        </tbody>
      </table>
    </div>
  );
}

function HeaderCell<Row>({ column }: { column: Column<Row> }): JSX.Element {
  const { label, sort, isActions } = column;
  const content = isActions ? <span class="hidden-text">{label}</span> : label;
  return (
    <th role="columnheader" scope="col" class={classOf(column)} aria-sort={sort?.direction}>
      {sort === undefined ? (
        content
      ) : (
        <button type="button" class={`sort is-${sort.direction ?? 'none'}`} onClick={sort.onPress}>
          {label}
          <Icon name="down" />
        </button>
      )}
    </th>
  );
}

function SkeletonRow<Row>({
  columns,
  index,
}: {
  columns: readonly Column<Row>[];
  index: number;
}): JSX.Element {
  return (
    <tr role="row" aria-hidden="true">
      {columns.map((column, cell) => (
        <td key={column.label} role="cell" class={classOf(column)}>
          <span class={`skeleton is-width-${(index * 3 + cell * 2) % 4}`} />
        </td>
      ))}
    </tr>
  );
}

function classOf<Row>({ isEnd, isMinor, isActions }: Column<Row>): string | undefined {
  const classes = [isEnd && 'is-end', isMinor && 'is-minor', isActions && 'is-actions'].filter(Boolean);
  return classes.length === 0 ? undefined : classes.join(' ');
}

/** The end of a list with pages. @param props.next the cursor of the next page; null on the last */
export function Pager({
  cursor,
  next,
  shown,
  onPage,
}: {
  cursor: string | undefined;
  next: string | null | undefined;
  shown: number | undefined;
  onPage: (cursor: string | undefined) => void;
}): JSX.Element {
  const isFirst = cursor === undefined || cursor === '';
  return (
    <nav class="pager" aria-label={t('table.pages')}>
      <p>{shown === undefined ? '\u00a0' : t('table.shown', { count: shown })}</p>
      {!isFirst && (
        <button type="button" class="button is-plain is-small" onClick={() => onPage(undefined)}>
          {t('table.first')}
        </button>
      )}
      {next !== null && next !== undefined && (
        <button type="button" class="button is-plain is-small" onClick={() => onPage(next)}>
          {t('table.next')}
        </button>
      )}
    </nav>
  );
}
