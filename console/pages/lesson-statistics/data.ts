import type { LessonStatistics } from '../../api-types.ts';
import type { Bar } from '../../kit/chart.tsx';
import { useData } from '../../shell/data.ts';
import { query } from '../../shell/router.tsx';
import { formatLocale, formatShare, t } from '../../shell/text.ts';
import { outlineOf, questionKey } from '../lesson/questions.ts';
import type { LessonOutline } from '../lesson/questions.ts';

type Statistics = NonNullable<LessonStatistics['statistics']>;
type Item = NonNullable<Statistics['items']>['questions'][number];

const pollMs = 2_000;

/** The statistics of the version in the URL, by default of the latest. The first request may have to wait for a count. */
export function useStatistics(lessonId: string) {
  const { version } = query.value;
  const loaded = useData(
    'GET /api/lessons/{lessonId}/statistics',
    { params: { lessonId }, query: { ...(version !== undefined && { version }) } },
    { everyMs: (data) => (data !== undefined && 'status' in data ? pollMs : 0) },
  );
  const { data } = loaded;
  return { ...loaded, data: data === undefined || 'status' in data ? undefined : data };
}

/** Loads the steps and questions of a version. */
export function useVersionOutline(
  lessonId: string,
  versionId: string | undefined,
): LessonOutline | undefined {
  const { data } = useData(versionId === undefined ? null : 'GET /api/lessons/{lessonId}/player-data', {
    params: { lessonId },
    query: { versionId: versionId ?? '', validate_playability: false },
  });
  return data === undefined ? undefined : outlineOf(data.lesson);
}

export function scoreBars({ scores }: Statistics): Bar[] {
  const total = Math.max(1, ...scores.map(({ learners }) => learners));
  return scores.map(({ fromPercent, toPercent, learners }) => ({
    label: `${fromPercent}–${toPercent}`,
    share: learners / total,
    value: t('statistics.learners', { count: learners }),
  }));
}

/** How many learners have reached each step: the steps after which many are gone stand out. */
export function stepBars({ steps }: Statistics, outline: LessonOutline | undefined): Bar[] {
  return steps.map(({ stepId, reached, share, medianSeconds }, index) => {
    const before = steps[index - 1]?.share ?? share;
    const time =
      medianSeconds === null ? '' : ` · ${t('statistics.seconds', { count: Math.round(medianSeconds) })}`;
    return {
      label: `${index + 1}. ${outline?.steps[index]?.title ?? stepId}`,
      share,
      value: reached.toLocaleString(formatLocale()) + time,
      // A tenth of all learners stopped before this step.
      tone: before - share >= 0.1 ? 'warn' : 'accent',
    };
  });
}

export interface QuestionBar extends Bar {
  item: Item;
  choices: (Bar & { isCorrect: boolean })[];
}

/** How difficult each question is, with what learners picked. */
export function questionBars({ items }: Statistics, outline: LessonOutline | undefined): QuestionBar[] {
  return (items?.questions ?? []).map((item) => {
    const question = outline?.questions.get(questionKey(item.stepId, item.widgetId));
    const share = item.facility / 100;
    return {
      item,
      label: question === undefined ? item.widgetType : `${question.number} ${question.prompt}`,
      share,
      value: formatShare(share),
      tone: share >= 0.8 ? 'good' : share < 0.4 ? 'bad' : 'accent',
      choices: (item.choices ?? []).map((choice) => ({
        label: question?.describe([choice.id]) ?? choice.id,
        share: choice.share,
        value: formatShare(choice.share),
        tone: choice.isCorrect ? 'good' : 'accent',
        isCorrect: choice.isCorrect,
      })),
    };
  });
}
