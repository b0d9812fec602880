import type { EmbedProgress, LtiProgress, ProgressItem } from '../../api-types.ts';
import { useData } from '../../shell/data.ts';
import { query } from '../../shell/router.tsx';
import { outlineOf, questionKey } from '../lesson/questions.ts';
import type { LessonOutline, Question } from '../lesson/questions.ts';

/** Whose record a page shows: the learner of an embedded lesson, or the user of a learning platform. */
export function ltiOf(): { platformId: string; contextId?: string } | null {
  const { platform, context } = query.value;
  if (platform === undefined) return null;
  return { platformId: platform, ...(context !== undefined && { contextId: context }) };
}

export function useProgress(lessonId: string, learnerId: string) {
  const lti = ltiOf();
  const embed = useData(lti === null ? 'GET /api/public/lessons/{lessonId}/progress/{learnerId}' : null, {
    params: { lessonId, learnerId },
  });
  const platform = useData(
    lti === null ? null : 'GET /api/public/lessons/{lessonId}/lti-progress/{ltiUserId}',
    {
      params: { lessonId, ltiUserId: learnerId },
      query: lti ?? { platformId: '' },
    },
  );
  const loaded: { data: EmbedProgress | LtiProgress | undefined } = lti === null ? embed : platform;
  return { ...(lti === null ? embed : platform), data: loaded.data };
}

/** Loads the lesson's steps and questions, for the texts that a record does not have. */
export function useOutline(lessonId: string): LessonOutline | undefined {
  const { data } = useData('GET /api/lessons/{lessonId}/player-data', {
    params: { lessonId },
    query: { validate_playability: false },
  });
  return data === undefined ? undefined : outlineOf(data.lesson);
}

export interface ShownAnswer {
  item: ProgressItem;
  /** Undefined for a question that the latest version lacks. */
  question: Question | undefined;
}

/** Returns the answers in reading order; those to questions that are gone come last. */
export function answersOf(items: readonly ProgressItem[], outline: LessonOutline | undefined): ShownAnswer[] {
  const order = [...(outline?.questions.keys() ?? [])];
  const place = ({ stepId, widgetId }: ProgressItem) => {
    const index = order.indexOf(questionKey(stepId, widgetId));
    return index < 0 ? order.length : index;
  };
  return items
    .toSorted((a, b) => place(a) - place(b))
    .map((item) => ({ item, question: outline?.questions.get(questionKey(item.stepId, item.widgetId)) }));
}
