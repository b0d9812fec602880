import type { JSX } from 'preact';
import type { RecentExport } from '../../api-types.ts';
import { Button } from '../../kit/button.tsx';
import { EmptyState, Notice } from '../../kit/parts.tsx';
import { useData } from '../../shell/data.ts';
import { List } from '../../shell/list.tsx';
import { PageFrame } from '../../shell/page.tsx';
import { query } from '../../shell/router.tsx';
import { session } from '../../shell/session.ts';
import { t } from '../../shell/text.ts';
import { archiveOf, changeExports, retryAllFailed } from './actions.ts';
import { StatusFilter, chosenStatus, columns, isUnderWay, pollMs } from './list.tsx';

/** The exports of the last day of all lessons. */
export default function ExportsPage(): JSX.Element {
  const { cursor } = query.value;
  const loaded = useData(
    'GET /api/exports',
    { query: { status: chosenStatus(), cursor } },
    { everyMs: (page) => (page?.exports.some(isUnderWay) ? pollMs : 0) },
  );
  const rows = loaded.data?.exports;
  const mayBuild = session.value?.organization?.plan !== 'solo';
  const change = async (name: 'retry' | 'cancel', { id }: RecentExport) => {
    await changeExports(name, [id]);
    await loaded.reload();
  };
  const retryAll = async () => {
    await retryAllFailed();
    await loaded.reload();
  };
  return (
    <PageFrame title={t('exports.recent')}>
      {!mayBuild && <Notice tone="warn">{t('exports.plan')}</Notice>}
      <div class="toolbar">
        <StatusFilter />
        <span class="is-last" />
        {mayBuild && rows?.some(({ status }) => status === 'failed') && (
          <Button onPress={retryAll}>{t('exports.retry_failed')}</Button>
        )}
      </div>
      <List
        caption={t('exports.recent')}
        loaded={loaded}
        rows={rows}
        next={loaded.data?.nextCursor}
        filters={['status']}
        empty={
          <EmptyState
            icon="archive"
            title={t('exports.none_lately')}
            action={<Button to="/lessons">{t('lessons.title')}</Button>}
          >
            {t('exports.none_lately_text')}
          </EmptyState>
        }
        columns={columns<RecentExport>([
          {
            label: t('actions'),
            isActions: true,
            cell: (one) => {
              if (isUnderWay(one))
                return (
                  <Button kind="quiet" onPress={() => change('cancel', one)}>
                    {t('cancel')}
                  </Button>
                );
              if (!mayBuild || one.status === 'ready' || !isLatest(one, rows)) return null;
              return (
                <Button kind="quiet" onPress={() => change('retry', one)}>
                  {t('error.retry')}
                </Button>
              );
            },
          },
        ])}
        rowKey={({ id }) => id}
        linkOf={({ lessonId }) => `/lessons/${lessonId}/exports`}
      />
    </PageFrame>
  );
}

/** Whether no newer export of the same archive is listed. */
function isLatest({ id }: RecentExport, rows: readonly RecentExport[] = []): boolean {
  return rows.find((one) => archiveOf(one.id) === archiveOf(id))?.id === id;
}
