import 'messages:page/statistics';
import type { JSX } from 'preact';
import type { LessonStatistics } from '../../api-types.ts';
import { Chart, Columns, Rows } from '../../kit/chart.tsx';
import { Filter } from '../../kit/field.tsx';
import { Icon } from '../../kit/icon.tsx';
import { Badge, EmptyState, ErrorState, Progress } from '../../kit/parts.tsx';
import { Time } from '../../kit/time.tsx';
import type { PageProps } from '../../shell/page.tsx';
import { query, setQuery } from '../../shell/router.tsx';
import { formatLocale, t } from '../../shell/text.ts';
import { useVersions } from '../lesson/data.ts';
import { LessonFrame } from '../lesson/frame.tsx';
import type { LessonOutline } from '../lesson/questions.ts';
import { questionBars, scoreBars, stepBars, useStatistics, useVersionOutline } from './data.ts';
import type { QuestionBar } from './data.ts';

/** How a lesson's learners do: scores, questions, and where they stop. */
export default function StatisticsPage({ params: { lessonId = '' } }: { params: PageProps }): JSX.Element {
  const { data, error, reload } = useStatistics(lessonId);
  const outline = useVersionOutline(lessonId, data?.versionId);
  const versions = useVersions(lessonId);
  return (
    <LessonFrame lessonId={lessonId}>
      {() => {
        if (error !== undefined) return <ErrorState error={error} onRetry={reload} />;
        return (
          <>
            <div class="toolbar">
              <Filter
                label={t('lessons.version')}
                value={query.value.version ?? ''}
                options={[
                  { value: '', label: t('statistics.latest') },
                  ...(versions.data?.versions ?? []).map(({ id, versionNumber }) => ({
                    value: id,
                    label: String(versionNumber),
                  })),
                ]}
                onChange={(version) => setQuery({ version })}
              />
              {data && (
                <span class="muted is-last">
                  {t('statistics.computed')} <Time at={data.computedAt} />
                </span>
              )}
            </div>
            {data === undefined ? (
              <div class="card">
                <p class="muted">{t('statistics.counting')}</p>
                <Progress value={undefined} label={t('statistics.counting')} />
              </div>
            ) : (
              <Statistics shown={data} outline={outline} />
            )}
          </>
        );
      }}
    </LessonFrame>
  );
}

function Statistics({
  shown: { statistics },
  outline,
}: {
  shown: LessonStatistics;
  outline: LessonOutline | undefined;
}): JSX.Element {
  if (statistics === null)
    return (
      <EmptyState icon="chart" title={t('statistics.few')}>
        {t('statistics.few_text')}
      </EmptyState>
    );
  const { total, notStarted, inProgress, completed } = statistics.learners;
  if (total === 0)
    return (
      <EmptyState icon="chart" title={t('learners.none')}>
        {t('learners.none_text')}
      </EmptyState>
    );
  const [scores, steps] = [scoreBars(statistics), stepBars(statistics, outline)];
  const questions = questionBars(statistics, outline);
  const learners = t('learners.title');
  return (
    <>
      <dl class="card figures">
        {(
          [
            [learners, total],
            [t('learner.not_started'), notStarted],
            [t('learner.in_progress'), inProgress],
            [t('learner.completed'), completed],
          ] as const
        ).map(([name, count]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{count.toLocaleString(formatLocale())}</dd>
          </div>
        ))}
      </dl>
      <div class="columns">
        <Chart
          title={t('statistics.scores')}
          text={t('statistics.scores_text')}
          bars={scores}
          columns={['%', learners]}
        >
          <Columns bars={scores} label={t('statistics.scores')} />
        </Chart>
        <Chart
          title={t('statistics.steps')}
          text={t('statistics.steps_text')}
          bars={steps}
          columns={[t('lessons.steps'), learners]}
        >
          <Rows bars={steps} />
        </Chart>
      </div>
      <Chart
        title={t('statistics.questions')}
        text={t('statistics.questions_text')}
        bars={questions}
        columns={[t('learner.question'), t('statistics.facility')]}
      >
        {questions.length === 0 ? (
          <p class="muted">{t('statistics.no_questions')}</p>
        ) : (
          <Rows bars={questions.map((bar) => ({ ...bar, detail: <Choices bar={bar} /> }))} />
        )}
      </Chart>
    </>
  );
}

function Choices({ bar: { item, choices } }: { bar: QuestionBar }): JSX.Element {
  return (
    <div class="detail">
      {item.flags.map((flag) => (
        <Badge key={flag} tone="warn">
          {t(`statistics.flag.${flag}`)}
        </Badge>
      ))}
      {choices.length > 0 && (
        <details>
          <summary>{t('statistics.choices')}</summary>
          <ul class="choices">
            {choices.map(({ label, value, isCorrect }, index) => (
              <li key={index} class={isCorrect ? 'is-right' : undefined}>
                <Icon name={isCorrect ? 'check' : 'close'} />
                <span>{label}</span>
                <span class="number">{value}</span>
              </li>
            ))}
          </ul>
        </details>
      )}
    </div>
  );
}
