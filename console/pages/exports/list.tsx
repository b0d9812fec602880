import 'messages:page/profile';
import type { ComponentChildren, JSX } from 'preact';
import type { RecentExport } from '../../api-types.ts';
import { Filter } from '../../kit/field.tsx';
import { Badge, Progress } from '../../kit/parts.tsx';
import type { Tone } from '../../kit/parts.tsx';
import type { Column } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';
import { query, setQuery } from '../../shell/router.tsx';
import { formatBytes, t } from '../../shell/text.ts';
import type { TextKey } from '../../shell/text.ts';

/* What the lists of exports of an organization and of all organizations share. */

export type Status = RecentExport['status'];

const statuses: readonly Status[] = ['queued', 'building', 'ready', 'failed', 'canceled'];
const tones: Record<Exclude<Status, 'building'>, Tone> = {
  queued: 'active',
  ready: 'good',
  failed: 'bad',
  canceled: 'neutral',
};

export const pollMs = 3_000;

/** Returns whether an export changes by itself. */
export function isUnderWay({ status }: { status: Status }): boolean {
  return status === 'queued' || status === 'building';
}

/** Returns the status that the URL selects. */
export function chosenStatus(): Status | undefined {
  return statuses.find((status) => status === query.value.status);
}

export function StatusFilter(): JSX.Element {
  return (
    <Filter
      label={t('lessons.status')}
      value={chosenStatus() ?? ''}
      options={[
        { value: '', label: t('filter.all') },
        ...statuses.map((value) => ({ value, label: nameOf(value) })),
      ]}
      onChange={(status) => setQuery({ status, cursor: '' })}
    />
  );
}

function nameOf(status: Status): string {
  return status === 'building' ? t('export.under_way') : t(`export.${status}`);
}

export function columns<Row extends RecentExport>(last: readonly Column<Row>[]): Column<Row>[] {
  return [
    {
      label: t('delivery.lesson'),
      cell: ({ slug, versionNumber }) => (
        <>
          <strong>{slug}</strong>
          <small>{t('lesson.version', { number: versionNumber })}</small>
        </>
      ),
    },
    { label: t('exports.format'), cell: ({ profile }) => profileName(profile) },
    { label: t('exports.state'), cell: (one) => <State export={one} /> },
    {
      label: t('exports.size'),
      isEnd: true,
      isMinor: true,
      cell: ({ size }) => (size === null ? '–' : formatBytes(size)),
    },
    {
      label: t('exports.requested'),
      isEnd: true,
      cell: ({ requestedAt }) => <Time at={requestedAt} />,
    },
    ...last,
  ];
}

/** Returns the name of a profile, which is `<id>:<variant>?<options>`, and the platform that it is for. */
function profileName(profile: string): string {
  const [id = ''] = profile.split(/[:?]/);
  const key = `profile.${id}` as TextKey & 'profile.plain';
  const name = t(key);
  const preset = new URLSearchParams(profile.split('?')[1]).get('preset');
  return [name.endsWith(key) ? id : name, ...(preset === null ? [] : [preset])].join(', ');
}

function State({
  export: { status, progress, error, missingFiles },
}: {
  export: RecentExport;
}): ComponentChildren {
  if (status === 'building') {
    const { done, total } = progress;
    const text = t('export.building', { done, total });
    return (
      <>
        <Progress value={total === 0 ? undefined : done / total} label={text} />
        <small>{text}</small>
      </>
    );
  }
  return (
    <>
      <Badge tone={tones[status]}>{nameOf(status)}</Badge>
      {error !== null && <small>{error.message}</small>}
      {missingFiles !== null && missingFiles > 0 && (
        <small>{t('exports.missing', { count: missingFiles })}</small>
      )}
    </>
  );
}
