import 'messages:page/profile';
import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';
import { Button } from '../../kit/button.tsx';
import { Filter } from '../../kit/field.tsx';
import { Icon } from '../../kit/icon.tsx';
import { Badge, EmptyState, ErrorState, Notice, Progress } from '../../kit/parts.tsx';
import { Table } from '../../kit/table.tsx';
import type { PageProps } from '../../shell/page.tsx';
import { query, setQuery } from '../../shell/router.tsx';
import { session } from '../../shell/session.ts';
import { formatBytes, t } from '../../shell/text.ts';
import { LessonFrame } from '../lesson/frame.tsx';
import { ContentsDialog, buildExports, cancelExport, downloadUrl } from './actions.tsx';
import { isUnderWay, presets, useExports, usePublishedVersions } from './data.ts';
import type { Export } from './data.ts';

/** The archives of a lesson's published versions. */
export default function ExportsPage({ params: { lessonId = '' } }: { params: PageProps }): JSX.Element {
  const { published, chosen, error, reload } = usePublishedVersions(lessonId);
  const exports = useExports(lessonId, chosen);
  const [shown, setShown] = useState<Export>();
  const params = { lessonId, versionId: chosen?.id ?? '' };
  const failed = exports.filter(({ status }) => status?.status === 'failed');
  const missing = exports.filter(({ status }) => status?.status === 'none');
  return (
    <LessonFrame lessonId={lessonId}>
      {() => {
        if (error !== undefined) return <ErrorState error={error} onRetry={reload} />;
        if (published?.length === 0)
          return (
            <EmptyState
              icon="archive"
              title={t('exports.none')}
              action={<Button to={`/lessons/${lessonId}`}>{t('lesson.versions')}</Button>}
            >
              {t('exports.none_text')}
            </EmptyState>
          );
        return (
          <>
            {session.value?.organization?.plan === 'solo' && <Notice tone="warn">{t('exports.plan')}</Notice>}
            <div class="toolbar">
              <Filter
                label={t('lessons.version')}
                value={chosen?.id ?? ''}
                options={(published ?? []).map(({ id, versionNumber }) => ({
                  value: id,
                  label: String(versionNumber),
                }))}
                onChange={(version) => setQuery({ version })}
              />
              <Filter
                label={t('exports.preset')}
                value={query.value.preset ?? ''}
                options={[
                  { value: '', label: t('exports.preset_any') },
                  ...presets.map((value) => ({ value: value as string, label: presetNames[value] })),
                ]}
                onChange={(preset) => setQuery({ preset })}
              />
              <span class="is-last" />
              {failed.length > 0 && (
                <Button onPress={() => buildExports(params, failed)}>
                  {t('exports.retry_all', { count: failed.length })}
                </Button>
              )}
              {missing.length > 1 && (
                <Button icon="archive" onPress={() => buildExports(params, missing)}>
                  {t('exports.build_all', { count: missing.length })}
                </Button>
              )}
            </div>
            <Table
              caption={t('exports.title')}
              columns={columns(params, setShown)}
              rows={exports}
              rowKey={({ id }) => id}
            />
            {shown && (
              <ContentsDialog
                params={params}
                query={shown.query}
                title={t(`profile.${shown.id}`)}
                onClose={() => setShown(undefined)}
              />
            )}
          </>
        );
      }}
    </LessonFrame>
  );
}

const presetNames: Record<(typeof presets)[number], string> = {
  moodle: 'Moodle',
  canvas: 'Canvas',
  blackboard: 'Blackboard',
  brightspace: 'Brightspace',
  sap: 'SAP SuccessFactors',
  openedx: 'Open edX',
  cornerstone: 'Cornerstone',
};

function columns(params: { lessonId: string; versionId: string }, onShow: (shown: Export) => void) {
  return [
    {
      label: t('exports.format'),
      cell: ({ id }: Export) => (
        <>
          <strong>{t(`profile.${id}`)}</strong>
          <small>{t(`profile.${id}_help`)}</small>
        </>
      ),
    },
    { label: t('exports.state'), cell: (one: Export) => <State export={one} /> },
    {
      label: t('exports.size'),
      isEnd: true,
      cell: ({ status }: Export) => (status?.status === 'ready' ? formatBytes(status.progress.bytes) : '–'),
    },
    {
      label: t('actions'),
      isActions: true,
      cell: (one: Export) => <Actions export={one} params={params} onShow={onShow} />,
    },
  ];
}

function State({ export: { status } }: { export: Export }): ComponentChildren {
  if (status === undefined) return <span class="skeleton" />;
  switch (status.status) {
    case 'none':
      return <Badge tone="neutral">{t('export.none')}</Badge>;
    case 'ready':
      return <Badge tone="good">{t('export.ready')}</Badge>;
    case 'queued':
      return (
        <>
          <Badge tone="active">{t('export.queued')}</Badge>
          <small>
            {status.reason === 'no_worker'
              ? t('export.no_worker')
              : status.position !== undefined && t('export.position', { position: status.position })}
          </small>
        </>
      );
    case 'building': {
      const { done, total } = status.progress;
      const text = t('export.building', { done, total });
      return (
        <>
          <Progress value={total === 0 ? undefined : done / total} label={text} />
          <small>{text}</small>
        </>
      );
    }
    case 'failed':
      return (
        <>
          <Badge tone="bad">{t('export.failed')}</Badge>
          <small>{status.error?.message}</small>
        </>
      );
  }
}

function Actions({
  export: one,
  params,
  onShow,
}: {
  export: Export;
  params: { lessonId: string; versionId: string };
  onShow: (shown: Export) => void;
}): ComponentChildren {
  const { status, query: own } = one;
  if (status === undefined) return null;
  if (isUnderWay(status))
    return (
      <Button kind="quiet" onPress={() => cancelExport(params, one)}>
        {t('cancel')}
      </Button>
    );
  if (status.status === 'ready')
    return (
      <>
        <Button kind="quiet" onPress={() => onShow(one)}>
          {t('exports.contents')}
        </Button>{' '}
        <a class="button is-plain" href={downloadUrl(params, own)} download>
          <Icon name="download" />
          <span>{t('exports.download')}</span>
        </a>
      </>
    );
  return (
    <Button onPress={() => buildExports(params, [one])}>
      {status.status === 'failed' ? t('error.retry') : t('exports.build')}
    </Button>
  );
}
