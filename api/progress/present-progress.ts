import type { EmbedProgress } from '../../shared/models/embed-progress.ts';
import type { LtiProgress } from '../../shared/models/lti-progress.ts';
import type { ProgressRecord } from '../../shared/models/progress-record.ts';
import { scaledTo100, shownPoints } from '../../shared/progress/points.ts';
import { rawOrNull } from '../../shared/platform/raw-json.ts';
import { itemsJson, variablesJson } from '../../shared/progress/state.ts';
import type { ProgressState } from '../../shared/progress/state.ts';

/** What names a learner's record. */
type Owner<Record extends ProgressRecord> = Pick<Record, 'lessonId'> &
  Pick<Record, keyof Record & ('learnerId' | 'ltiUserId' | 'platformId' | 'contextId' | 'courseId')>;

/** Returns the body of GET /progress: {@link embedProgress}. JSON values stay as they were stored. */
export function presentEmbedProgress(record: ProgressState & Owner<EmbedProgress>) {
  return {
    lessonId: record.lessonId,
    learnerId: record.learnerId,
    status: record.status,
    ...shownPoints(record),
    currentSectionIndex: record.sectionIndex,
    currentStepIndex: record.stepIndex,
    totalSteps: record.totalSteps,
    progressData: rawOrNull(record.progressData),
    variableState: variablesJson(record.variables),
    items: itemsJson(record.items),
    userAttributes: rawOrNull(record.userAttributes?.text ?? null),
    ...presentTimes(record),
  };
}

/** Returns the body of GET /lti-progress: {@link ltiProgress}, with scores out of 100. */
export function presentLtiProgress(record: ProgressState & Owner<LtiProgress>) {
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
    variableState: variablesJson(record.variables),
    ...presentTimes(record),
  };
}

function presentTimes({ startedAt, completedAt, lastActivityAt }: ProgressState) {
  return {
    startedAt: startedAt?.toISOString() ?? null,
    completedAt: completedAt?.toISOString() ?? null,
    lastActivityAt: lastActivityAt.toISOString(),
  };
}
