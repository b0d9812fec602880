import type { ListedLearner } from '../models/learner-list.ts';
import { scaledTo100, shownPoints } from '../progress/points.ts';

/** The columns of a learner in tables, in order. */
export const learnerColumns = [
  ...[
    'source',
    'learnerId',
    'ltiUserId',
    'platformId',
    'contextId',
    'status',
    'score',
    'maxScore',
    'percent',
  ],
  ...['startedAt', 'completedAt', 'lastActivityAt', 'versionId'],
] as const;

/** Returns a learner as JSON. Points and status are those of GET progress and GET lti-progress. */
export function presentLearner(learner: ListedLearner) {
  const { status, versionId } = learner;
  const scaled = scaledTo100(learner);
  const rest = {
    status,
    ...(learner.source === 'embed' ? shownPoints(learner) : scaled),
    percent: scaled.score,
    startedAt: learner.startedAt?.toISOString() ?? null,
    completedAt: learner.completedAt?.toISOString() ?? null,
    lastActivityAt: learner.lastActivityAt.toISOString(),
    versionId,
  };
  if (learner.source === 'embed') return { source: learner.source, learnerId: learner.learnerId, ...rest };
  const { source, ltiUserId, platformId, contextId } = learner;
  return { source, ltiUserId, platformId, contextId, ...rest };
}
