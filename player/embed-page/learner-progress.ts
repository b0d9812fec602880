import { readTries } from '../../shared/progress/tries.ts';
import type { LessonBoot } from './boot.ts';
import type { FrameMessage } from './frame-messages.ts';
import type { HostLink } from './host-link.ts';
import type { StepPositions } from './step-positions.ts';
import { isCompleted } from './save-queue.ts';
import type { Saver } from './saver.ts';
import type { JsonObject, StepPosition, SessionRecord } from './session-record.ts';
import type { QueuedWrite } from './queued-write.ts';

/** The frame's messages about progress. */
export type ProgressMessage = Exclude<
  FrameMessage,
  { type: 'resize' | 'heading' | 'error' | 'loadChunk' | 'leave' | 'unmounted' | 'video' }
>;

/** Saves the learner's actions, and reports them to the host. */
export interface LearnerProgress {
  /** Returns the position of the step that is shown. */
  position(this: void): StepPosition;
  /** Sets the position, when the lesson is mounted at another one. */
  moveTo(this: void, position: StepPosition): void;
  onMessage(this: void, message: ProgressMessage): void;
  onSaved(this: void, record: SessionRecord, write: QueuedWrite): void;
}

export function learnerProgress(
  boot: Pick<LessonBoot, 'lessonId' | 'versionId' | 'title'>,
  positions: StepPositions,
  saver: Pick<Saver, 'queue' | 'change' | 'time' | 'draft' | 'dropDrafts'>,
  host: Pick<HostLink, 'send'>,
  start: StepPosition,
): LearnerProgress {
  let position = start;
  let isReady = false;
  const about = (): JsonObject => ({ lessonId: boot.lessonId, versionId: boot.versionId });

  function onReady(before: StepPosition): void {
    const { record } = saver.queue();
    // The first view creates the record.
    if (position !== before || record.revision === 0) saver.change({ position });
    if (isReady) return;
    isReady = true;
    const { title } = boot;
    host.send({ type: 'ready', ...about(), title, totalSteps: positions.totalSteps, status: record.status });
  }

  function onStep({ state, completed }: Extract<ProgressMessage, { type: 'step' }>): void {
    const finishes = completed && positions.isLast(position);
    saver.change({ position, progressData: state.progressData, completed: finishes });
    if (completed) return;
    const status = isCompleted(saver.queue()) ? 'completed' : 'in_progress';
    host.send({ type: 'step', ...about(), ...position, totalSteps: positions.totalSteps, status });
  }

  function onAnswer({ item, state }: Extract<ProgressMessage, { type: 'answer' }>): void {
    const { stepId, answeredAt, ...given } = item;
    const answered = positions.positionOf(stepId);
    if (answered === undefined || !positions.hasWidget(answered, given.widgetId)) return;
    saver.draft(given.widgetId, undefined);
    const { progressData } = state;
    const counts = readTries(progressData.tries);
    const { tries = 1 } =
      counts.find((count) => count.stepId === stepId && count.widgetId === given.widgetId) ?? {};
    const answer = { ...given, ...(tries > 1 && { tries }) };
    saver.change({ position: answered, answer, ageMs: ageMsOf(answeredAt), progressData });
    // A widget may report only when the learner leaves its step.
    if (answered !== position) saver.change({ position });
  }

  function onDraft({ widgetId, answer, answeredAt }: Extract<ProgressMessage, { type: 'draft' }>): void {
    if (!positions.hasWidget(position, widgetId)) return;
    const draft = { position, answer: { widgetId, answer, score: null, maxScore: null } };
    saver.draft(widgetId, answer === undefined ? undefined : { ...draft, ageMs: ageMsOf(answeredAt) });
  }

  return {
    position: () => position,
    moveTo(other) {
      position = other;
    },
    onMessage(message) {
      const reported = positions.positionOf(message.stepId);
      if (reported === undefined) return;
      if (message.type === 'time') return saver.time(message.stepId, message.activeMs);
      const before = position;
      position = reported;
      // The step has reported its unsubmitted answers before.
      if (message.type === 'ready' || message.type === 'step' || message.type === 'restart')
        saver.dropDrafts();
      switch (message.type) {
        case 'ready':
          return onReady(before);
        case 'restart':
          return saver.change({ position, restart: true });
        case 'step':
          return onStep(message);
        case 'answer':
          return onAnswer(message);
        case 'draft':
          return onDraft(message);
        case 'variable': {
          const { progressData, variables } = message.state;
          return saver.change({ position, progressData, variables, setVariable: message.name });
        }
      }
    },
    onSaved({ score, maxScore, completedAt, attempt }, write) {
      // The learner may have restarted elsewhere since.
      const isOutdated = attempt !== undefined && write.attempt !== undefined && write.attempt < attempt;
      if (write.completed && !isOutdated)
        host.send({ type: 'complete', ...about(), score, maxScore, completedAt });
    },
  };
}

/** Returns the milliseconds since a time by the device's clock, which may differ from the server's. */
function ageMsOf(time: string): number {
  return Math.max(0, Date.now() - Date.parse(time) || 0);
}
