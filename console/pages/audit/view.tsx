import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { AuditEntry } from '../../api-types.ts';
import { Button } from '../../kit/button.tsx';
import { Dialog } from '../../kit/dialog.tsx';
import { Filter } from '../../kit/field.tsx';
import { CopyText, EmptyState, Facts, SearchField } from '../../kit/parts.tsx';
import type { Column } from '../../kit/table.tsx';
import { Time, exactTime } from '../../kit/time.tsx';
import { orToast } from '../../kit/toast.tsx';
import { List } from '../../shell/list.tsx';
import { PageFrame } from '../../shell/page.tsx';
import { query, setQuery } from '../../shell/router.tsx';
import { t } from '../../shell/text.ts';
import { downloadAudit, periods, useAudit } from './data.ts';

/** Who did what in the organization, and who read data of learners. */
export default function AuditPage(): JSX.Element {
  const loaded = useAudit();
  const { action = '', actorId = '', period = '' } = query.value;
  const [shown, setShown] = useState<AuditEntry>();
  return (
    <PageFrame
      title={t('audit.title')}
      actions={
        <Button icon="download" onPress={() => orToast(downloadAudit)}>
          NDJSON
        </Button>
      }
    >
      <div class="toolbar">
        <Filter
          label={t('audit.period')}
          value={period}
          options={periods.map(({ value }) => ({
            value,
            label: t(`audit.period_${value === '' ? 'all' : value}`),
          }))}
          onChange={(value) => setQuery({ period: value, cursor: '' })}
        />
        <SearchField
          label={t('audit.action')}
          value={action}
          onSearch={(value) => setQuery({ action: value, cursor: '' }, { replace: true })}
        />
        <SearchField
          label={t('audit.actor')}
          value={actorId}
          onSearch={(value) => setQuery({ actorId: value, cursor: '' }, { replace: true })}
        />
      </div>
      <List
        caption={t('audit.title')}
        loaded={loaded}
        rows={loaded.data?.entries}
        next={loaded.data?.nextCursor}
        filters={['action', 'actorId', 'period']}
        empty={
          <EmptyState icon="history" title={t('audit.none')}>
            {t('audit.none_text')}
          </EmptyState>
        }
        columns={columns(setShown)}
        rowKey={({ id }) => id}
      />
      {shown && <EntryDialog entry={shown} onClose={() => setShown(undefined)} />}
    </PageFrame>
  );
}

function columns(onShow: (entry: AuditEntry) => void): Column<AuditEntry>[] {
  return [
    {
      label: t('audit.action'),
      cell: (entry) => (
        <button type="button" class="row-link is-button" onClick={() => onShow(entry)}>
          {entry.action}
        </button>
      ),
    },
    {
      label: t('audit.actor'),
      cell: ({ actor }) => (
        <>
          {t(`audit.actor_${actor.type}`)} <CopyText value={actor.id} shown={short(actor.id)} label="id" />
        </>
      ),
    },
    {
      label: t('audit.target'),
      isMinor: true,
      cell: ({ target }) =>
        target === null ? (
          '–'
        ) : (
          <>
            {target.type} <CopyText value={target.id} shown={short(target.id)} label="id" />
          </>
        ),
    },
    { label: t('audit.time'), isEnd: true, cell: ({ at }) => <Time at={at} /> },
  ];
}

const shownCharacters = 12;

function short(id: string): string {
  return id.length > shownCharacters ? `${id.slice(0, shownCharacters)}…` : id;
}

function EntryDialog({
  entry: { action, at, actor, target, details, ip, requestId },
  onClose,
}: {
  entry: AuditEntry;
  onClose: () => void;
}): JSX.Element {
  return (
    <Dialog title={action} onClose={onClose}>
      <Facts
        items={[
          [t('audit.time'), exactTime(new Date(at))],
          [t('audit.actor'), `${t(`audit.actor_${actor.type}`)} ${actor.id}`],
          target !== null && [t('audit.target'), `${target.type} ${target.id}`],
          ip !== null && [t('audit.ip'), ip],
          requestId !== null && [t('audit.request'), requestId],
          ...Object.entries(details).map(([name, value]) => [name, String(value)] as const),
        ]}
      />
    </Dialog>
  );
}
