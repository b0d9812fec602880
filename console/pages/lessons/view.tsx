import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { ListedLesson } from '../../api-types.ts';
import { Badge, EmptyState, SearchField } from '../../kit/parts.tsx';
import { Button } from '../../kit/button.tsx';
import { Filter } from '../../kit/field.tsx';
import type { Column } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';
import { useCommands } from '../../shell/commands.ts';
import { List } from '../../shell/list.tsx';
import { PageFrame } from '../../shell/page.tsx';
import { query, setQuery } from '../../shell/router.tsx';
import { can } from '../../shell/session.ts';
import { t } from '../../shell/text.ts';
import { CreateDialog } from './create.tsx';
import { ImportDialog, useDroppedFile } from './import.tsx';
import { isStatus, statuses, statusTones, useLessons } from './data.ts';

const columns = (): Column<ListedLesson>[] => [
  {
    label: t('lessons.lesson'),
    cell: ({ title, slug }) => (
      <>
        {title}
        <small>{slug}</small>
      </>
    ),
  },
  {
    label: t('lessons.status'),
    cell: ({ status }) => <Badge tone={statusTones[status]}>{t(`status.${status}`)}</Badge>,
  },
  {
    label: t('lessons.version'),
    isEnd: true,
    cell: ({ latestVersion }) => latestVersion?.versionNumber ?? '–',
  },
  { label: t('lessons.steps'), isEnd: true, cell: ({ totalSteps }) => totalSteps },
  {
    label: t('lessons.published'),
    isEnd: true,
    cell: ({ latestVersion }) => (latestVersion === null ? '–' : <Time at={latestVersion.publishedAt} />),
  },
];

/** The lessons of the organization. */
export default function LessonsPage(): JSX.Element {
  const loaded = useLessons();
  const [isImporting, setImporting] = useState(false);
  const [dropped, takeDropped] = useDroppedFile();
  const startImport = () => setImporting(true);
  const [isCreating, setCreating] = useState(false);
  const startCreation = () => setCreating(true);
  useCommands(
    can('content')
      ? [
          { label: t('import.title'), icon: 'upload', run: startImport },
          { label: t('lessons.create'), icon: 'book', run: startCreation },
        ]
      : [],
    'lessons',
  );
  const importButton = can('content') && (
    <>
      <Button onPress={startCreation}>{t('lessons.create')}</Button>
      <Button kind="primary" icon="upload" onPress={startImport}>
        {t('import.title')}
      </Button>
    </>
  );
  return (
    <PageFrame title={t('lessons.title')} actions={importButton}>
      <Toolbar />
      <List
        caption={t('lessons.title')}
        loaded={loaded}
        rows={loaded.data?.lessons}
        next={loaded.data?.nextCursor}
        filters={['title', 'status']}
        empty={
          <EmptyState icon="book" title={t('lessons.none')} action={importButton}>
            {t(can('content') ? 'lessons.none_text' : 'lessons.none_yet')}
          </EmptyState>
        }
        columns={columns()}
        rowKey={({ id }) => id}
        linkOf={({ id }) => `/lessons/${id}`}
      />
      {isCreating && <CreateDialog onClose={() => setCreating(false)} />}
      {can('content') && (isImporting || dropped !== undefined) && (
        <ImportDialog
          file={dropped}
          onImported={loaded.reload}
          onClose={() => {
            setImporting(false);
            takeDropped();
          }}
        />
      )}
    </PageFrame>
  );
}

function Toolbar(): JSX.Element {
  const { title = '', status } = query.value;
  return (
    <div class="toolbar">
      <SearchField
        label={t('lessons.search')}
        value={title}
        onSearch={(text) => setQuery({ title: text, cursor: '' }, { replace: true })}
      />
      <Filter
        label={t('lessons.status')}
        value={isStatus(status) ? status : ''}
        options={[
          { value: '', label: t('filter.all') },
          ...statuses.map((value) => ({ value, label: t(`status.${value}`) })),
        ]}
        onChange={(value) => setQuery({ status: value, cursor: '' })}
      />
    </div>
  );
}
