import type { JSX } from 'preact';
import { Filter } from '../../kit/field.tsx';
import { EmptyState, ErrorState } from '../../kit/parts.tsx';
import { useData } from '../../shell/data.ts';
import type { PageProps } from '../../shell/page.tsx';
import { query, setQuery } from '../../shell/router.tsx';
import { can } from '../../shell/session.ts';
import { formatLocale, t } from '../../shell/text.ts';
import { useVersions } from '../lesson/data.ts';
import { LessonFrame } from '../lesson/frame.tsx';
import { ReportCounts, ReportEntries, results } from './report.tsx';

/** What became of each element of the file that a version was imported from. */
export default function ReportPage({
  params: { lessonId = '', versionId = '' },
}: {
  params: PageProps;
}): JSX.Element {
  const params = { lessonId, versionId };
  const { data, error, reload } = useData(
    'GET /api/lessons/{lessonId}/versions/{versionId}/conversion-report',
    { params },
  );
  const version = useVersions(lessonId).data?.versions.find(({ id }) => id === versionId);
  const wanted = results.find((result) => result === query.value.result) ?? '';
  const entries = data?.entries.filter(({ result }) => wanted === '' || result === wanted);
  const isPreviewable = can('content') && version !== undefined && version.status !== 'unpublished';
  return (
    <LessonFrame lessonId={lessonId}>
      {() =>
        error !== undefined ? (
          <ErrorState error={error} onRetry={reload} />
        ) : (
          <>
            <section class="card" aria-busy={data === undefined}>
              <header>
                <h2>{version === undefined ? '…' : t('report.title', { number: version.versionNumber })}</h2>
              </header>
              {data && <ReportCounts counts={data} />}
              <p class="muted">{t('report.help')}</p>
            </section>
            <div class="toolbar">
              <Filter
                label={t('report.result')}
                value={wanted}
                options={[
                  { value: '', label: t('report.all') },
                  ...results.map((result) => ({
                    value: result,
                    label: `${t(`report.${result}`)} (${(data?.[result] ?? 0).toLocaleString(formatLocale())})`,
                  })),
                ]}
                onChange={(result) => setQuery({ result })}
              />
            </div>
            {entries?.length === 0 ? (
              <EmptyState icon="check" title={t('report.none')} />
            ) : (
              <ReportEntries key={wanted} entries={entries} previewed={isPreviewable ? params : undefined} />
            )}
          </>
        )
      }
    </LessonFrame>
  );
}
