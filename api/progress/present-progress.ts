import type { EmbedProgress } from '../../shared/models/embed-progress.ts';
import type { LtiProgress } from '../../shared/models/lti-progress.ts';
import type { ProgressRecord } from '../../shared/models/progress-record.ts';
import { scaledTo100, shownPoints } from '../../shared/progress/points.ts';
import { rawOrNull } from '../../shared/platform/raw-json.ts';

/** A record of either kind, without the fields that never leave the database. */
type Presentable<Record extends ProgressRecord> = Omit<
  Record,
  '_id' | 'organizationId' | 'recentWriteIds' | 'scoresDue' | 'finished' | 'attempt' | 'stepTimes'
>;

/** Returns the body of GET /progress: {@link embedProgress}. JSON values stay as they were stored. */
export function presentEmbedProgress(record: Presentable<EmbedProgress>) {
  return {
    lessonId: record.lessonId,
    learnerId: record.learnerId,
    status: record.status,
    ...shownPoints(record),
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

/** Returns the body of GET /lti-progress: {@link ltiProgress}, with scores out of 100. */
export function presentLtiProgress(record: Presentable<LtiProgress>) {
  return {
    lessonId: record.lessonId,
    ltiUserId: record.ltiUserId,
    platformId: record.platformId,
    contextId: record.contextId,
    courseId: record.courseId,
    status: record.status,
    ...scaledTo100(record),
    currentSectionIndex: record.sectionIndex,
    currentStepIndex: record.stepIndex,
    progressData: rawOrNull(record.progressData),
    variableState: rawOrNull(record.variableState),
    ...presentTimes(record),
  };
}

function presentTimes({ startedAt, completedAt, lastActivityAt }: Presentable<ProgressRecord>) {
  return {
    startedAt: startedAt?.toISOString() ?? null,
    completedAt: completedAt?.toISOString() ?? null,
    lastActivityAt: lastActivityAt.toISOString(),
  };
}
