import type { ListedLearner, LearnerPage, Routes } from '../../api-types.ts';
import type { Tone } from '../../kit/parts.tsx';
import { urlOf } from '../../shell/api.ts';
import { useData } from '../../shell/data.ts';
import type { Loaded } from '../../shell/data.ts';
import { query, searchOf } from '../../shell/router.tsx';

type LearnerQuery = Routes['GET /api/lessons/{lessonId}/learners']['query'];
export type LearnerStatus = ListedLearner['status'];

export const learnerStatuses: readonly LearnerStatus[] = ['not_started', 'in_progress', 'completed'];
export const learnerTones: Record<LearnerStatus, Tone> = {
  not_started: 'neutral',
  in_progress: 'active',
  completed: 'good',
};

/** The maximum of learners on a page. */
const limit = 50;

/** Returns the filters in the URL, without those that are not valid. The newest activity is first. */
export function learnerQuery(): LearnerQuery {
  const { status, source, version, order } = query.value;
  const known = learnerStatuses.find((one) => one === status);
  return {
    ...(known !== undefined && { status: known }),
    ...((source === 'embed' || source === 'lti') && { source }),
    ...(version !== undefined && { version }),
    order: order === 'oldest' ? 'oldest' : 'newest',
  };
}

export function useLearners(lessonId: string): Loaded<LearnerPage> {
  const { cursor } = query.value;
  return useData('GET /api/lessons/{lessonId}/learners', {
    params: { lessonId },
    query: { ...learnerQuery(), limit, ...(cursor !== undefined && { cursor }) },
  });
}

/** Returns the URL of a table with all learners that the filters select. */
export function csvUrl(lessonId: string, table: 'learners' | 'answers'): string {
  const request = { params: { lessonId }, query: learnerQuery() };
  return table === 'learners'
    ? urlOf('GET /api/lessons/{lessonId}/learners.csv', request)
    : urlOf('GET /api/lessons/{lessonId}/answers.csv', request);
}

/** Returns the path of a learner's page in the console. */
export function learnerPath(lessonId: string, learner: ListedLearner): string {
  const at = `/lessons/${encodeURIComponent(lessonId)}/learners/`;
  if (learner.source === 'embed') return at + encodeURIComponent(learner.learnerId);
  const { ltiUserId, platformId, contextId } = learner;
  return (
    at + encodeURIComponent(ltiUserId) + searchOf({ platform: platformId, context: contextId ?? undefined })
  );
}

export function nameOf(learner: ListedLearner): string {
  return learner.source === 'embed' ? learner.learnerId : learner.ltiUserId;
}
