import type { ComponentChildren, JSX } from 'preact';
import { Button } from '../kit/button.tsx';
import { EmptyState, ErrorState } from '../kit/parts.tsx';
import { Pager, Table } from '../kit/table.tsx';
import type { Column } from '../kit/table.tsx';
import type { Loaded } from './data.ts';
import { query, setQuery } from './router.tsx';
import { t } from './text.ts';

/**
 * A list whose filters and page are in the URL: its rows, or why there are none and what to do.
 *
 * @param props.rows undefined while they are loaded
 * @param props.next the cursor of the next page; undefined for a list without pages
 * @param props.filters the names of the parameters that select rows
 * @param props.empty shown if there are no rows without filters
 */
export function List<Row>({
  caption,
  loaded: { error, isLoading, reload },
  rows,
  next,
  filters = [],
  empty,
  ...table
}: {
  caption: string;
  loaded: Pick<Loaded<unknown>, 'error' | 'isLoading' | 'reload'>;
  rows: readonly Row[] | undefined;
  next?: string | null | undefined;
  filters?: readonly string[];
  empty: ComponentChildren;
  columns: readonly Column<Row>[];
  rowKey: (row: Row) => string;
  linkOf?: (row: Row) => string;
  skeletonRows?: number;
}): JSX.Element {
  const { cursor } = query.value;
  if (error !== undefined) return <ErrorState error={error} onRetry={reload} />;
  // A filtered page may be empty and have a next one.
  if (rows?.length === 0 && (next ?? null) === null) {
    const chosen = ['cursor', ...filters];
    if (chosen.every((name) => query.value[name] === undefined)) return <>{empty}</>;
    const clear = () => setQuery(Object.fromEntries(chosen.map((name) => [name, ''])));
    return (
      <EmptyState
        icon="search"
        title={t('list.none_found')}
        action={<Button onPress={clear}>{t('filter.clear')}</Button>}
      />
    );
  }
  return (
    <div>
      <Table {...table} caption={caption} rows={rows} isStale={isLoading && rows !== undefined} />
      {(next !== undefined || rows === undefined) && (
        <Pager
          cursor={cursor}
          next={next}
          shown={rows?.length}
          onPage={(page) => setQuery({ cursor: page })}
        />
      )}
    </div>
  );
}
