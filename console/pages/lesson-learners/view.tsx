import type { JSX } from 'preact';
import type { ListedLearner } from '../../api-types.ts';
import { Button } from '../../kit/button.tsx';
import { Filter } from '../../kit/field.tsx';
import { Icon } from '../../kit/icon.tsx';
import { Menu } from '../../kit/menu.tsx';
import { Badge, EmptyState } from '../../kit/parts.tsx';
import type { Column } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';
import { List } from '../../shell/list.tsx';
import type { PageProps } from '../../shell/page.tsx';
import { query, setQuery } from '../../shell/router.tsx';
import { formatShare, t } from '../../shell/text.ts';
import { useVersions } from '../lesson/data.ts';
import { LessonFrame } from '../lesson/frame.tsx';
import { csvUrl, learnerPath, learnerStatuses, learnerTones, nameOf, useLearners } from './data.ts';

/** Everyone who has a record of a lesson. */
export default function LearnersPage({ params: { lessonId = '' } }: { params: PageProps }): JSX.Element {
  return (
    <LessonFrame
      lessonId={lessonId}
      actions={
        <Menu
          buttonClass="button is-plain"
          items={[
            { label: t('learners.csv'), icon: 'person', href: csvUrl(lessonId, 'learners') },
            { label: t('learners.answers_csv'), icon: 'check', href: csvUrl(lessonId, 'answers') },
          ]}
        >
          <Icon name="download" />
          <span>CSV</span>
        </Menu>
      }
    >
      {() => <Learners lessonId={lessonId} />}
    </LessonFrame>
  );
}

function Learners({ lessonId }: { lessonId: string }): JSX.Element {
  const loaded = useLearners(lessonId);
  return (
    <>
      <Toolbar lessonId={lessonId} />
      <List
        caption={t('learners.title')}
        loaded={loaded}
        rows={loaded.data?.learners}
        next={loaded.data?.nextCursor}
        filters={['status', 'source', 'version']}
        empty={
          <EmptyState
            icon="person"
            title={t('learners.none')}
            action={<Button to={`/lessons/${lessonId}/embed`}>{t('embed.title')}</Button>}
          >
            {t('learners.none_text')}
          </EmptyState>
        }
        columns={columns()}
        rowKey={(learner) => learnerPath('', learner)}
        linkOf={(learner) => learnerPath(lessonId, learner)}
      />
    </>
  );
}

function Toolbar({ lessonId }: { lessonId: string }): JSX.Element {
  const versions = useVersions(lessonId);
  const { status = '', source = '', version = '' } = query.value;
  const set = (name: string) => (value: string) => setQuery({ [name]: value, cursor: '' });
  const all = { value: '', label: t('filter.all') };
  return (
    <div class="toolbar">
      <Filter
        label={t('lessons.status')}
        value={status}
        options={[all, ...learnerStatuses.map((value) => ({ value, label: t(`learner.${value}`) }))]}
        onChange={set('status')}
      />
      <Filter
        label={t('learners.source')}
        value={source}
        options={[
          all,
          { value: 'embed', label: t('learners.embed') },
          { value: 'lti', label: t('learners.lti') },
        ]}
        onChange={set('source')}
      />
      <Filter
        label={t('lessons.version')}
        value={version}
        options={[
          all,
          ...(versions.data?.versions ?? []).map(({ id, versionNumber }) => ({
            value: id,
            label: String(versionNumber),
          })),
        ]}
        onChange={set('version')}
      />
    </div>
  );
}

function columns(): Column<ListedLearner>[] {
  const isOldest = query.value.order === 'oldest';
  return [
    {
      label: t('learners.learner'),
      cell: (learner) => (
        <>
          {nameOf(learner)}
          <small>{t(learner.source === 'embed' ? 'learners.embed' : 'learners.lti')}</small>
        </>
      ),
    },
    {
      label: t('lessons.status'),
      cell: ({ status }) => <Badge tone={learnerTones[status]}>{t(`learner.${status}`)}</Badge>,
    },
    { label: t('learners.score'), isEnd: true, cell: scoreOf },
    {
      label: t('learners.started'),
      isEnd: true,
      isMinor: true,
      cell: ({ startedAt }) => (startedAt === null ? '–' : <Time at={startedAt} />),
    },
    {
      label: t('learners.active'),
      isEnd: true,
      cell: ({ lastActivityAt }) => <Time at={lastActivityAt} />,
      sort: {
        direction: isOldest ? 'ascending' : 'descending',
        onPress: () => setQuery({ order: isOldest ? '' : 'oldest', cursor: '' }),
      },
    },
  ];
}

function scoreOf({ score, maxScore, percent }: ListedLearner): JSX.Element | string {
  if (score === null || percent === null) return '–';
  return (
    <>
      {formatShare(percent / 100)}
      <small>{t('learners.points', { score, max: maxScore ?? 0 })}</small>
    </>
  );
}
