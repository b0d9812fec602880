import type { JSX } from 'preact';
import type { OperatedExport } from '../../api-types.ts';
import { CopyText, EmptyState } from '../../kit/parts.tsx';
import { useData } from '../../shell/data.ts';
import { List } from '../../shell/list.tsx';
import { PageFrame } from '../../shell/page.tsx';
import { query } from '../../shell/router.tsx';
import { t } from '../../shell/text.ts';
import { StatusFilter, chosenStatus, columns, isUnderWay, pollMs } from '../exports/list.tsx';

const namesKept = 100;

/** The exports of all organizations of the last day, with the causes of failures. */
export default function OperatorExportsPage(): JSX.Element {
  const { cursor } = query.value;
  const loaded = useData(
    'GET /api/operator/exports',
    { query: { status: chosenStatus(), cursor } },
    { everyMs: (page) => (page?.exports.some(isUnderWay) ? pollMs : 0) },
  );
  // Larger installations show the ids of some organizations.
  const { data } = useData('GET /api/operator/organizations', { query: { limit: namesKept } });
  const names = new Map(data?.organizations.map(({ id, name }) => [id, name]));
  return (
    <PageFrame title={t('exports.recent')}>
      <div class="toolbar">
        <StatusFilter />
      </div>
      <List
        caption={t('exports.recent')}
        loaded={loaded}
        rows={loaded.data?.exports}
        next={loaded.data?.nextCursor}
        filters={['status']}
        empty={<EmptyState icon="archive" title={t('exports.none_lately')} />}
        columns={columns<OperatedExport>([
          {
            label: t('organizations.organization'),
            isEnd: true,
            cell: ({ organizationId }) =>
              names.get(organizationId) ?? (
                <CopyText value={organizationId} shown={organizationId.slice(0, 8)} label="id" />
              ),
          },
        ])}
        rowKey={({ id }) => id}
      />
    </PageFrame>
  );
}
