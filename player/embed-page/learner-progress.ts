import { readTries } from '../../shared/progress/tries.ts';
import type { LessonBoot } from './boot.ts';
import type { FrameMessage } from './frame-messages.ts';
import type { HostLink } from './host-link.ts';
import type { StepPositions } from './step-positions.ts';
import type { Saver } from './saver.ts';
import type { JsonObject, StepPosition, SessionRecord } from './session-record.ts';
import type { Fact } from './facts.ts';

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
  onSaved(this: void, record: SessionRecord, facts: readonly Fact[]): void;
}

export function learnerProgress(
  boot: Pick<LessonBoot, 'lessonId' | 'versionId' | 'title'>,
  positions: StepPositions,
  saver: Pick<Saver, 'record' | 'change' | 'time' | 'draft' | 'dropDrafts'>,
  host: Pick<HostLink, 'send'>,
  start: StepPosition,
): LearnerProgress {
  let position = start;
  let isReady = false;
  const about = (): JsonObject => ({ lessonId: boot.lessonId, versionId: boot.versionId });

  function onReady(before: StepPosition): void {
    const { status } = saver.record;
    // The first view creates the record.
    if (position !== before || status === 'not_started') saver.change({ position });
    if (isReady) return;
    isReady = true;
    const { title } = boot;
    host.send({ type: 'ready', ...about(), title, totalSteps: positions.totalSteps, status });
  }

  function onStep({ state, completed }: Extract<ProgressMessage, { type: 'step' }>): void {
    const { progressData } = state;
    saver.change({ position, progressData, ...(completed && { completed }) });
    if (completed) return;
    const status = saver.record.status === 'completed' ? 'completed' : 'in_progress';
    host.send({ type: 'step', ...about(), ...position, totalSteps: positions.totalSteps, status });
  }

  function onAnswer({ item, state }: Extract<ProgressMessage, { type: 'answer' }>): void {
    const { answeredAt, ...given } = item;
    const { stepId, widgetId } = given;
    const answered = positions.positionOf(stepId);
    if (answered === undefined || !positions.hasWidget(answered, widgetId)) return;
    saver.dropDrafts({ stepId, widgetId });
    const { progressData } = state;
    const counts = readTries(progressData.tries);
    const { tries = 1 } =
      counts.find((count) => count.stepId === stepId && count.widgetId === widgetId) ?? {};
    const answer = { ...given, ...(tries > 1 && { tries }) };
    saver.change({ position, answer, ageMs: ageMsOf(answeredAt), progressData });
  }

  function onDraft({ widgetId, answer, answeredAt }: Extract<ProgressMessage, { type: 'draft' }>): void {
    if (!positions.hasWidget(position, widgetId)) return;
    const { stepId } = position;
    if (answer === undefined) saver.dropDrafts({ stepId, widgetId });
    else
      saver.draft(position, { stepId, widgetId, answer, score: null, maxScore: null }, ageMsOf(answeredAt));
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
          const { name } = message;
          return saver.change({ position, progressData, variable: { name, value: variables[name] } });
        }
      }
    },
    onSaved({ score, maxScore, completedAt, attempt }, facts) {
      // The learner may have restarted elsewhere since.
      if (facts.some((fact) => fact.completed && fact.attempt === attempt))
        host.send({ type: 'complete', ...about(), score, maxScore, completedAt });
    },
  };
}

/** Returns the milliseconds since a time by the device's clock, which may differ from the server's. */
function ageMsOf(time: string): number {
  return Math.max(0, Date.now() - Date.parse(time) || 0);
}
