import type { EmbedProgress } from '../../shared/models/embed-progress.ts';
import type { LtiProgress } from '../../shared/models/lti-progress.ts';
import type { ProgressRecord } from '../../shared/models/progress-record.ts';
import { scaledTo100 } from '../../shared/progress/score.ts';
import { rawOrNull } from '../../shared/platform/raw-json.ts';

/** Members of a JSON object for `printJson`: JSON-valued fields are raw, as they were stored. */
type Members = Record<string, unknown>;

/** A record of either kind, without what only storing it needs. */
type Presentable<Record extends ProgressRecord> = Omit<
  Record,
  '_id' | 'organizationId' | 'recentWriteIds' | 'scoresDue' | 'finished' | 'attempt'
>;

/** The contract's 2.1. */
export function presentEmbedProgress(record: Presentable<EmbedProgress>): Members {
  return {
    lessonId: record.lessonId,
    learnerId: record.learnerId,
    status: record.status,
    score: record.score,
    maxScore: record.maxScore,
    currentSectionIndex: record.sectionIndex,
    currentStepIndex: record.stepIndex,
    totalSteps: record.totalSteps,
    progressData: rawOrNull(record.progressData),
    variableState: rawOrNull(record.variableState),
    items: rawOrNull(record.items),
    userAttributes: rawOrNull(record.userAttributes),
    ...presentTimes(record),
  };
}

/** The contract's 2.2: scores are out of 100. */
export function presentLtiProgress(record: Presentable<LtiProgress>): Members {
  return {
    lessonId: record.lessonId,
    ltiUserId: record.ltiUserId,
    platformId: record.platformId,
    contextId: record.contextId,
    courseId: record.courseId,
    status: record.status,
    ...scaledTo100(record.score, record.maxScore),
    currentSectionIndex: record.sectionIndex,
    currentStepIndex: record.stepIndex,
    progressData: rawOrNull(record.progressData),
    variableState: rawOrNull(record.variableState),
    ...presentTimes(record),
  };
}

function presentTimes({ startedAt, completedAt, lastActivityAt }: Presentable<ProgressRecord>): Members {
  return { startedAt, completedAt, lastActivityAt };
}
