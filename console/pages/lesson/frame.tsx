import type { ComponentChildren, JSX } from 'preact';
import type { ListedLesson } from '../../api-types.ts';
import { Badge, ErrorState } from '../../kit/parts.tsx';
import { Tabs } from '../../kit/tabs.tsx';
import { PageFrame } from '../../shell/page.tsx';
import { can } from '../../shell/session.ts';
import { t } from '../../shell/text.ts';
import { statusTones } from '../lessons/data.ts';
import { useLesson } from './data.ts';

/** The frame of all pages of a lesson. Its children appear when the lesson is loaded. */
export function LessonFrame({
  lessonId,
  actions,
  children,
}: {
  lessonId: string;
  actions?: ComponentChildren;
  children: (lesson: ListedLesson) => ComponentChildren;
}): JSX.Element {
  const { data: lesson, error, reload } = useLesson(lessonId);
  const at = (part: string) => `/lessons/${encodeURIComponent(lessonId)}${part}`;
  const tabs = [
    { label: t('lesson.versions'), to: at('') },
    { label: t('changes.title'), to: at('/changes') },
    { label: t('exports.title'), to: at('/exports') },
    { label: t('embed.title'), to: at('/embed') },
    ...(can('learners') ? [{ label: t('learners.title'), to: at('/learners') }] : []),
    { label: t('statistics.title'), to: at('/statistics') },
  ];
  return (
    <PageFrame
      title={lesson?.title ?? (error === undefined ? '…' : t('lessons.lesson'))}
      parents={[{ label: t('lessons.title'), to: '/lessons' }]}
      status={lesson && <Badge tone={statusTones[lesson.status]}>{t(`status.${lesson.status}`)}</Badge>}
      actions={lesson && actions}
      tabs={error === undefined && <Tabs label={t('lesson.parts')} items={tabs} />}
    >
      {error !== undefined ? <ErrorState error={error} onRetry={reload} /> : lesson && children(lesson)}
    </PageFrame>
  );
}
