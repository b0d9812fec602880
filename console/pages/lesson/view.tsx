import 'messages:page/report';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { ListedLesson } from '../../api-types.ts';
import { Button } from '../../kit/button.tsx';
import { Icon } from '../../kit/icon.tsx';
import { Menu } from '../../kit/menu.tsx';
import type { MenuItem } from '../../kit/menu.tsx';
import { Badge, CopyText, ErrorState, Facts } from '../../kit/parts.tsx';
import { Table } from '../../kit/table.tsx';
import type { Column } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';
import { useCommands } from '../../shell/commands.ts';
import type { PageProps } from '../../shell/page.tsx';
import { navigate } from '../../shell/router.tsx';
import { can } from '../../shell/session.ts';
import { formatLocale, t } from '../../shell/text.ts';
import { ImportDialog } from '../lessons/import.tsx';
import { statusTones } from '../lessons/data.ts';
import {
  CheckDialog,
  CopyDialog,
  DeleteDialog,
  LinkDialog,
  PublishDialog,
  UnpublishDialog,
  openPreview,
} from './actions.tsx';
import { useLesson, useUses, useVersions } from './data.ts';
import type { Version } from './data.ts';
import { LessonFrame } from './frame.tsx';

type Open =
  | { kind: 'check' | 'copy' | 'link' | 'publish' | 'unpublish'; version: Version }
  | { kind: 'delete' | 'import' };

/** A lesson's versions: what is published, and what to do with each. */
export default function LessonPage({ params: { lessonId = '' } }: { params: PageProps }): JSX.Element {
  const lesson = useLesson(lessonId);
  const versions = useVersions(lessonId);
  const [open, setOpen] = useState<Open>();
  // Teachers want what their learners see.
  const newest =
    (can('content') ? undefined : versions.data?.versions.find(({ status }) => status === 'published')) ??
    versions.data?.versions[0];
  useCommands(
    newest === undefined
      ? []
      : [
          { label: t('lesson.preview'), icon: 'eye', run: () => openPreview(lessonId, newest) },
          ...(can('content')
            ? [
                {
                  label: t('lesson.check'),
                  icon: 'check' as const,
                  run: () => setOpen({ kind: 'check', version: newest }),
                },
                {
                  label: t('lesson.copy'),
                  icon: 'copy' as const,
                  run: () => setOpen({ kind: 'copy', version: newest }),
                },
              ]
            : []),
        ],
    `${lessonId} ${newest?.id}`,
  );
  const close = () => setOpen(undefined);
  const onChanged = async () => {
    close();
    await Promise.all([lesson.reload(), versions.reload()]);
  };
  return (
    <LessonFrame
      lessonId={lessonId}
      actions={<Actions lessonId={lessonId} newest={newest} setOpen={setOpen} />}
    >
      {(shown) => (
        <>
          <LessonFacts lesson={shown} />
          {versions.error !== undefined ? (
            <ErrorState error={versions.error} onRetry={versions.reload} />
          ) : (
            <Table
              caption={t('lesson.versions')}
              columns={columns(lessonId, setOpen)}
              rows={versions.data?.versions}
              rowKey={({ id }) => id}
              skeletonRows={2}
            />
          )}
          <Uses lessonId={lessonId} />
          {open?.kind === 'check' && (
            <CheckDialog lessonId={lessonId} version={open.version} onClose={close} />
          )}
          {open?.kind === 'link' && <LinkDialog lessonId={lessonId} version={open.version} onClose={close} />}
          {open?.kind === 'copy' && <CopyDialog lesson={shown} version={open.version} onClose={close} />}
          {open?.kind === 'publish' && (
            <PublishDialog lesson={shown} version={open.version} onClose={close} onDone={onChanged} />
          )}
          {open?.kind === 'unpublish' && (
            <UnpublishDialog lesson={shown} version={open.version} onClose={close} onDone={onChanged} />
          )}
          {open?.kind === 'delete' && (
            <DeleteDialog lesson={shown} versions={versions.data?.versions ?? []} onClose={close} />
          )}
          {open?.kind === 'import' && <ImportDialog onClose={close} onImported={onChanged} />}
        </>
      )}
    </LessonFrame>
  );
}

function Actions({
  lessonId,
  newest,
  setOpen,
}: {
  lessonId: string;
  newest: Version | undefined;
  setOpen: (open: Open) => void;
}): JSX.Element {
  return (
    <>
      <Button kind="primary" to={`/lessons/${encodeURIComponent(lessonId)}/edit`}>
        {t('lesson.edit')}
      </Button>
      {newest && newest.status !== 'unpublished' && (
        <Button icon="eye" onPress={() => openPreview(lessonId, newest)}>
          {t('lesson.preview')}
        </Button>
      )}
      {can('content') && (
        <>
          <Button icon="upload" onPress={() => setOpen({ kind: 'import' })}>
            {t('lesson.new_version')}
          </Button>
          <Menu
            label={t('more')}
            items={[
              {
                label: t('lesson.delete'),
                icon: 'trash',
                isDanger: true,
                onSelect: () => setOpen({ kind: 'delete' }),
              },
            ]}
          >
            <Icon name="more" />
          </Menu>
        </>
      )}
    </>
  );
}

function LessonFacts({ lesson }: { lesson: ListedLesson }): JSX.Element {
  const { id, slug, totalSections, totalSteps, updatedAt } = lesson;
  return (
    <div class="card">
      <div class="columns">
        <Facts
          items={[
            [t('lesson.contents'), t('lesson.size', { sections: totalSections, steps: totalSteps })],
            [t('lesson.changed'), <Time key="time" at={updatedAt} />],
          ]}
        />
        <Facts
          items={[
            [t('lesson.slug'), <CopyText key="slug" value={slug} label={t('lesson.slug')} />],
            [t('lesson.id'), <CopyText key="id" value={id} label={t('lesson.id')} />],
          ]}
        />
      </div>
    </div>
  );
}

/** Who would miss the lesson. */
function Uses({ lessonId }: { lessonId: string }): JSX.Element {
  const { data, error, reload } = useUses(lessonId);
  if (error !== undefined) return <ErrorState error={error} onRetry={reload} />;
  const { learners, platforms } = data ?? { learners: undefined, platforms: [] };
  const active = learners && `${learners.active.toLocaleString(formatLocale())}${learners.isMore ? '+' : ''}`;
  return (
    <section class="card" aria-busy={data === undefined}>
      <h2>{t('lesson.uses')}</h2>
      <Facts
        items={[
          [t('lesson.uses_learners', { days: learners?.days ?? 30 }), active ?? '–'],
          ...platforms.map(({ platformId, name, issuer, links, lastLaunchAt }): [string, JSX.Element] => [
            t('lesson.uses_links', { count: links, platform: name ?? issuer ?? platformId }),
            <Time key={platformId} at={lastLaunchAt} />,
          ]),
        ]}
      />
      {data !== undefined && platforms.length === 0 && <p class="muted">{t('lesson.uses_none')}</p>}
    </section>
  );
}

function columns(lessonId: string, setOpen: (open: Open) => void): Column<Version>[] {
  const publish = (version: Version) => setOpen({ kind: 'publish', version });
  return [
    {
      label: t('lessons.version'),
      cell: ({ versionNumber }) => <strong>{t('lesson.version', { number: versionNumber })}</strong>,
    },
    {
      label: t('lessons.status'),
      cell: ({ status }) => <Badge tone={statusTones[status]}>{t(`status.${status}`)}</Badge>,
    },
    {
      label: t('lessons.published'),
      cell: ({ publishedAt }) => (publishedAt === null ? '–' : <Time at={publishedAt} />),
    },
    {
      label: t('lesson.version_id'),
      isMinor: true,
      cell: ({ id }) => <CopyText value={id} shown={id.slice(0, 8)} label={t('lesson.version_id')} />,
    },
    {
      label: t('actions'),
      isActions: true,
      cell: (version: Version) => {
        const items = versionActions(lessonId, version, setOpen);
        return (
          <>
            {can('content') && version.status !== 'published' && (
              <button type="button" class="button is-plain is-small" onClick={() => publish(version)}>
                {t('lesson.publish')}
              </button>
            )}{' '}
            {items.length > 0 && (
              <Menu label={t('lesson.version_actions', { number: version.versionNumber })} items={items}>
                <Icon name="more" />
              </Menu>
            )}
          </>
        );
      },
    },
  ];
}

function versionActions(lessonId: string, version: Version, setOpen: (open: Open) => void): MenuItem[] {
  const { status, convertedFrom } = version;
  const report: MenuItem = {
    label: t('report.menu'),
    icon: 'history',
    onSelect: () => navigate(`/lessons/${lessonId}/report/${version.id}`),
  };
  const preview: MenuItem = {
    label: t('lesson.preview'),
    icon: 'eye',
    onSelect: () => openPreview(lessonId, version),
  };
  const check: MenuItem = {
    label: t('lesson.check'),
    icon: 'check',
    onSelect: () => setOpen({ kind: 'check', version }),
  };
  const unpublish: MenuItem = {
    label: t('lesson.unpublish'),
    icon: 'close',
    onSelect: () => setOpen({ kind: 'unpublish', version }),
  };
  const share: MenuItem = {
    label: t('lesson.preview_link'),
    icon: 'send',
    onSelect: () => setOpen({ kind: 'link', version }),
  };
  return [
    // An unpublished version has no preview.
    ...(status === 'unpublished' ? [] : [preview, share]),
    ...(can('content')
      ? [
          check,
          ...(convertedFrom === null ? [] : [report]),
          {
            label: t('lesson.copy'),
            icon: 'copy' as const,
            onSelect: () => setOpen({ kind: 'copy', version }),
          },
          ...(status === 'published' ? [unpublish] : []),
        ]
      : []),
  ];
}
