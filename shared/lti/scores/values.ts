import type { ScoreValues } from '../../models/lti-score.ts';
import { scaledTo100 } from '../../progress/score.ts';
import type { ProgressState } from '../../progress/state.ts';

const fullMarks = 100;

/**
 * What a learner's record is to a platform. Only a completed lesson has a score: out of 100, zero where nothing was
 * answered, and full marks where nothing could be gained.
 */
export function scoreValuesOf({
  status,
  score,
  maxScore,
}: Pick<ProgressState, 'status' | 'score' | 'maxScore'>): ScoreValues {
  const none = { scoreGiven: null, scoreMaximum: null };
  if (status === 'not_started')
    return { activityProgress: 'Initialized', gradingProgress: 'NotReady', ...none };
  if (status === 'in_progress')
    return { activityProgress: 'InProgress', gradingProgress: 'Pending', ...none };
  const scaled = scaledTo100(score, maxScore);
  return {
    activityProgress: 'Completed',
    gradingProgress: 'FullyGraded',
    scoreGiven: scaled.maxScore === null ? fullMarks : (scaled.score ?? 0),
    scoreMaximum: fullMarks,
  };
}
