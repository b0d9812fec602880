import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { EmbedProgress, LtiProgress, ProgressItem } from '../../api-types.ts';
import { Icon } from '../../kit/icon.tsx';
import { Menu } from '../../kit/menu.tsx';
import { Badge, CopyText, EmptyState, ErrorState, Facts } from '../../kit/parts.tsx';
import { Table } from '../../kit/table.tsx';
import type { Column } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';
import { useLazy } from '../../shell/lazy.ts';
import { PageFrame } from '../../shell/page.tsx';
import type { PageProps } from '../../shell/page.tsx';
import { can } from '../../shell/session.ts';
import { t } from '../../shell/text.ts';
import { useLesson } from '../lesson/data.ts';
import { learnerTones } from '../lesson-learners/data.ts';
import { EraseDialog, exportUrl } from './actions.tsx';
import { answersOf, ltiOf, useOutline, useProgress } from './data.ts';
import type { ShownAnswer } from './data.ts';

/** One learner in a lesson: where they are, and every answer. */
export default function LearnerPage({
  params: { lessonId = '', learnerId = '' },
}: {
  params: PageProps;
}): JSX.Element {
  const lesson = useLesson(lessonId);
  const { data, error, reload } = useProgress(lessonId, learnerId);
  const outline = useOutline(lessonId);
  const [isErasing, setErasing] = useState(false);
  const learners = `/lessons/${encodeURIComponent(lessonId)}/learners`;
  return (
    <PageFrame
      title={learnerId}
      parents={[{ label: lesson.data?.title ?? t('learners.title'), to: learners }]}
      status={data && <Badge tone={learnerTones[data.status]}>{t(`learner.${data.status}`)}</Badge>}
      actions={
        data && (
          <>
            {can('learners') && (
              <a class="button is-plain" href={exportUrl(learnerId, ltiOf())} download>
                <Icon name="download" />
                <span>{t('learner.export')}</span>
              </a>
            )}
            {can('erase') && (
              <Menu
                label={t('more')}
                items={[
                  {
                    label: t('learner.erase'),
                    icon: 'trash',
                    isDanger: true,
                    onSelect: () => setErasing(true),
                  },
                ]}
              >
                <Icon name="more" />
              </Menu>
            )}
          </>
        )
      }
    >
      {error !== undefined && <ErrorState error={error} onRetry={reload} />}
      {data !== undefined && (
        <>
          <Summary progress={data} steps={outline?.steps.length} />
          <Answers progress={data} answers={answersOf('items' in data ? (data.items ?? []) : [], outline)} />
          {can('deliveries') && <Sent lessonId={lessonId} learnerId={learnerId} />}
        </>
      )}
      {isErasing && (
        <EraseDialog learnerId={learnerId} lti={ltiOf()} back={learners} onClose={() => setErasing(false)} />
      )}
    </PageFrame>
  );
}

/** A part of the page that many users may not see. */
function Sent(of: { lessonId: string; learnerId: string }): JSX.Element | null {
  const Loaded = useLazy(() => import('./sent.tsx').then(({ SentDeliveries }) => SentDeliveries));
  return Loaded && <Loaded {...of} />;
}

function Summary({
  progress,
  steps,
}: {
  progress: EmbedProgress | LtiProgress;
  steps: number | undefined;
}): JSX.Element {
  const { score, maxScore, startedAt, completedAt, lastActivityAt } = progress;
  const time = (at: string | null) => (at === null ? '–' : <Time at={at} />);
  return (
    <div class="card">
      <div class="columns">
        <Facts
          items={[
            [t('learners.score'), score === null ? '–' : t('learners.points', { score, max: maxScore ?? 0 })],
            steps !== undefined && [t('learner.position'), t('learner.step', positionOf(progress))],
          ]}
        />
        <Facts
          items={[
            [t('learners.started'), time(startedAt)],
            [t('learner.completed_at'), time(completedAt)],
            [t('learners.active'), time(lastActivityAt)],
          ]}
        />
      </div>
    </div>
  );
}

function positionOf({ currentSectionIndex, currentStepIndex }: EmbedProgress | LtiProgress) {
  return { section: currentSectionIndex + 1, step: currentStepIndex + 1 };
}

function Answers({
  progress,
  answers,
}: {
  progress: EmbedProgress | LtiProgress;
  answers: ShownAnswer[];
}): JSX.Element {
  if (!('items' in progress) || answers.length === 0)
    return (
      <EmptyState icon="check" title={t('learner.no_answers')}>
        {'items' in progress ? undefined : t('learner.no_lti_answers')}
      </EmptyState>
    );
  return (
    <Table
      caption={t('learner.answers')}
      columns={columns()}
      rows={answers}
      rowKey={({ item }) => `${item.stepId} ${item.widgetId}`}
    />
  );
}

function columns(): Column<ShownAnswer>[] {
  return [
    {
      label: t('learner.question'),
      cell: ({ item, question }) => (
        <>
          <strong>
            {question === undefined ? item.widgetType : `${question.number} ${question.prompt}`}
          </strong>
          <small>
            {question?.stepTitle ?? <CopyText value={item.widgetId} label={t('learner.block_id')} />}
          </small>
        </>
      ),
    },
    {
      label: t('learner.answer'),
      cell: ({ item, question }) => (
        <>
          {question?.describe(item.answer) ?? JSON.stringify(item.answer)}
          {isWrong(item) && question?.right !== undefined && question.right !== null && (
            <small>{t('learner.right', { answer: question.right })}</small>
          )}
        </>
      ),
    },
    { label: t('learner.result'), cell: ({ item }) => resultOf(item) },
    { label: t('learner.tries'), isEnd: true, isMinor: true, cell: ({ item }) => item.tries ?? '–' },
    {
      label: t('learner.answered'),
      isEnd: true,
      isMinor: true,
      cell: ({ item }) => <Time at={item.answeredAt} />,
    },
  ];
}

function isWrong({ score, maxScore }: ProgressItem): boolean {
  return score !== null && maxScore !== null && score < maxScore;
}

function resultOf({ score, maxScore }: ProgressItem): ComponentChildren {
  if (score === null || maxScore === null) return <Badge tone="neutral">{t('learner.not_scored')}</Badge>;
  const points = t('learners.points', { score, max: maxScore });
  if (score >= maxScore) return <Badge tone="good">{points}</Badge>;
  return <Badge tone={score > 0 ? 'warn' : 'bad'}>{points}</Badge>;
}
