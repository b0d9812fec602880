import type { ProgressStatus } from './state.ts';

/** What a write tells about the learner: looked at the first step, did anything at all, finished the lesson. */
export type ProgressEvent = 'look' | 'act' | 'finish';

const transitions: Record<ProgressStatus, Record<ProgressEvent, ProgressStatus>> = {
  not_started: { look: 'not_started', act: 'in_progress', finish: 'completed' },
  in_progress: { look: 'in_progress', act: 'in_progress', finish: 'completed' },
  completed: { look: 'completed', act: 'completed', finish: 'completed' },
};

/** The status after an event. It never goes back. */
export function nextStatus(status: ProgressStatus, event: ProgressEvent): ProgressStatus {
  return transitions[status][event];
}
