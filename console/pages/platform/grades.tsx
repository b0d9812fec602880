import 'messages:page/grade';
import 'messages:page/grades';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { LtiGrade } from '../../api-types.ts';
import { Button } from '../../kit/button.tsx';
import { ActionDialog, Dialog } from '../../kit/dialog.tsx';
import { Filter } from '../../kit/field.tsx';
import { Badge, CopyText, EmptyState, Facts } from '../../kit/parts.tsx';
import type { Column } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';
import { orToast, toast } from '../../kit/toast.tsx';
import { request } from '../../shell/api.ts';
import { useData } from '../../shell/data.ts';
import { List } from '../../shell/list.tsx';
import { Link, query, setQuery } from '../../shell/router.tsx';
import { t } from '../../shell/text.ts';
import type { TextKey } from '../../shell/text.ts';

type Selection = { ids: string[] } | { failed: true; platformId: string };

/** The states in the order of the filter: those that need something come first. */
const states = ['failed', 'waiting', 'idle'] as const;
const tones = { failed: 'bad', waiting: 'active', idle: 'good' } as const;

/** The grades for a platform: what it has, and why it does not have what it should have. */
export function Grades({ platformId }: { platformId: string }): JSX.Element {
  const { cursor, state: given } = query.value;
  const state = given === 'all' ? undefined : (states.find((one) => one === given) ?? 'failed');
  const loaded = useData('GET /api/grades', { query: { platformId, state, cursor } });
  const [shown, setShown] = useState<LtiGrade>();
  const [isDismissing, setDismissing] = useState(false);
  const change = (name: 'resend' | 'dismiss', body: Selection) =>
    orToast(async () => {
      const { changed: count } = await request(`POST /api/grades/${name}`, { body });
      toast(name === 'resend' ? t('grades.resent', { count }) : t('grades.dismissed', { count }));
      await loaded.reload();
    });
  const all = { failed: true, platformId } as const;
  const hasFailed = loaded.data?.grades.some((grade) => grade.state === 'failed') ?? false;
  return (
    <section class="stack">
      <div class="toolbar">
        <h2>{t('health.grades')}</h2>
        <Filter
          label={t('lessons.status')}
          value={state ?? 'all'}
          options={[
            ...states.map((value) => ({ value, label: t(`grade.${value}`) })),
            { value: 'all', label: t('filter.all') },
          ]}
          onChange={(value) => setQuery({ state: value === 'failed' ? '' : value, cursor: '' })}
        />
        <span class="is-last" />
        {hasFailed && (
          <>
            <Button onPress={() => setDismissing(true)}>{t('grades.dismiss_all')}</Button>
            <Button onPress={() => change('resend', all)}>{t('grades.resend')}</Button>
          </>
        )}
      </div>
      <List
        caption={t('health.grades')}
        loaded={loaded}
        rows={loaded.data?.grades}
        next={loaded.data?.nextCursor}
        filters={['state']}
        empty={<EmptyState icon="check" title={t('grades.none')} />}
        columns={columns(setShown, (name, { id }) => change(name, { ids: [id] }))}
        rowKey={({ id }) => id}
        skeletonRows={2}
      />
      {shown && <GradeDialog grade={shown} onClose={() => setShown(undefined)} />}
      {isDismissing && (
        <ActionDialog
          title={t('grades.dismiss_all')}
          action={t('grades.dismiss_all')}
          isDanger
          onClose={() => setDismissing(false)}
          onAction={async () => {
            await change('dismiss', all);
            setDismissing(false);
          }}
        >
          <p>{t('grades.dismiss_text')}</p>
        </ActionDialog>
      )}
    </section>
  );
}

function columns(
  onShow: (grade: LtiGrade) => void,
  change: (name: 'resend' | 'dismiss', grade: LtiGrade) => unknown,
): Column<LtiGrade>[] {
  return [
    {
      label: t('learners.learner'),
      cell: (grade) => (
        <button type="button" class="row-link is-button" onClick={() => onShow(grade)}>
          {grade.ltiUserId}
        </button>
      ),
    },
    { label: t('lessons.status'), cell: (grade) => <State grade={grade} /> },
    { label: t('exports.reason'), cell: ({ failure }) => (failure === null ? '–' : causeOf(failure)) },
    {
      label: t('delivery.last'),
      isEnd: true,
      cell: ({ failure, sent }) => {
        const at = failure?.at ?? sent?.at;
        return at === undefined ? '–' : <Time at={at} />;
      },
    },
    {
      label: t('actions'),
      isActions: true,
      cell: (grade) => (
        <>
          {grade.state === 'failed' && (
            <Button kind="quiet" onPress={() => change('dismiss', grade)}>
              {t('delivery.dismiss')}
            </Button>
          )}
          {grade.wanted !== null && (
            <Button kind="quiet" onPress={() => change('resend', grade)}>
              {t('delivery.resend')}
            </Button>
          )}
        </>
      ),
    },
  ];
}

function State({ grade: { state, sent } }: { grade: LtiGrade }): JSX.Element {
  if (state === 'idle' && sent === null) return <Badge tone="neutral">{t('grade.nothing')}</Badge>;
  return <Badge tone={tones[state]}>{t(`grade.${state}`)}</Badge>;
}

/** The statuses with which platforms reject a grade, and whose usual cause is known. */
const rejections = [400, 401, 403, 404, 422];

/** Returns why a grade was not accepted, and what to do. */
function causeOf({ reason, status }: NonNullable<LtiGrade['failure']>): string {
  const isKnown = reason === 'refused' && status !== null && rejections.includes(status);
  const key = isKnown ? `grade.refused_${status}` : `grade.${reason}`;
  const text = t(key as TextKey & 'grade.refused');
  // A later release may have other reasons.
  if (text.endsWith(key)) return reason;
  return status === null ? text : `${text} (${status})`;
}

/** What the platform should have, what it has, and what it said. */
function GradeDialog({ grade, onClose }: { grade: LtiGrade; onClose: () => void }): JSX.Element {
  const { id, lessonId, ltiUserId, wanted, sent, tries, nextTryAt, failure } = grade;
  const points = (score: { scoreGiven: number; scoreMaximum: number } | null) =>
    score === null ? '–' : t('learners.points', { score: score.scoreGiven, max: score.scoreMaximum });
  return (
    <Dialog title={ltiUserId} isWide onClose={onClose}>
      <Facts
        items={[
          [t('grade.wanted'), points(wanted)],
          [t('grade.sent'), points(sent)],
          [t('delivery.attempts'), tries],
          nextTryAt !== null && [t('grade.next'), <Time key="next" at={nextTryAt} />],
          [
            t('delivery.lesson'),
            <Link key="lesson" to={`/lessons/${lessonId}`}>
              {lessonId}
            </Link>,
          ],
          [t('delivery.id'), <CopyText key="id" value={id} label={t('delivery.id')} />],
        ]}
      />
      {failure !== null && <p>{causeOf(failure)}</p>}
      {failure?.body !== null && failure?.body !== undefined && failure.body !== '' && (
        <div class="code-block">
          <pre tabIndex={0} aria-label={t('delivery.response')}>
            <code>{failure.body}</code>
          </pre>
        </div>
      )}
    </Dialog>
  );
}
