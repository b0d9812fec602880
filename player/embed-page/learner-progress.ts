import { readTries } from '../../shared/progress/tries.ts';
import type { LessonBoot } from './boot.ts';
import type { FrameMessage } from './frame-messages.ts';
import type { HostLink } from './host-link.ts';
import type { StepPositions } from './step-positions.ts';
import type { Saver } from './saver.ts';
import type { StepPosition, SessionRecord } from './session-record.ts';
import type { Fact } from './facts.ts';

/** The frame's messages about progress. */
export type ProgressMessage = Exclude<
  FrameMessage,
  { type: 'resize' | 'heading' | 'error' | 'loadChunk' | 'leave' | 'unmounted' | 'video' }
>;

/** Saves the learner's actions, and reports them to the host. */
export class LearnerProgress {
  readonly #boot: Pick<LessonBoot, 'lessonId' | 'versionId' | 'title'>;
  readonly #positions: StepPositions;
  readonly #saver: Pick<Saver, 'record' | 'change' | 'time' | 'draft' | 'dropDrafts'>;
  readonly #host: Pick<HostLink, 'send'>;
  /** The step that is shown. */
  #position: StepPosition;
  /** Whether the host knows that the lesson is shown. */
  #isReady = false;

  constructor(
    boot: Pick<LessonBoot, 'lessonId' | 'versionId' | 'title'>,
    positions: StepPositions,
    saver: Pick<Saver, 'record' | 'change' | 'time' | 'draft' | 'dropDrafts'>,
    host: Pick<HostLink, 'send'>,
    start: StepPosition,
  ) {
    this.#boot = boot;
    this.#positions = positions;
    this.#saver = saver;
    this.#host = host;
    this.#position = start;
  }

  get position(): StepPosition {
    return this.#position;
  }

  /** Sets the position, when the lesson is mounted at another one. */
  moveTo(position: StepPosition): void {
    this.#position = position;
  }

  onMessage(message: ProgressMessage): void {
    const saver = this.#saver;
    const position = this.#positions.positionOf(message.stepId);
    if (position === undefined) return;
    if (message.type === 'time') return saver.time(message.stepId, message.activeMs);
    const before = this.#position;
    this.#position = position;
    // The step has reported its unsubmitted answers before.
    if (message.type === 'ready' || message.type === 'step' || message.type === 'restart') saver.dropDrafts();
    switch (message.type) {
      case 'ready':
        return this.#onReady(before);
      case 'restart':
        return saver.change({ position, restart: true });
      case 'step':
        return this.#onStep(message);
      case 'answer':
        return this.#onAnswer(message);
      case 'draft':
        return this.#onDraft(message);
      case 'variable': {
        const { progressData, variables } = message.state;
        const { name } = message;
        return saver.change({ position, progressData, variable: { name, value: variables[name] } });
      }
    }
  }

  onSaved({ score, maxScore, completedAt, attempt }: SessionRecord, facts: readonly Fact[]): void {
    // The learner may have restarted elsewhere since.
    if (facts.some((fact) => fact.completed && fact.attempt === attempt))
      this.#host.send({ type: 'complete', ...this.#about(), score, maxScore, completedAt });
  }

  #about(): { lessonId: string; versionId: string } {
    const { lessonId, versionId } = this.#boot;
    return { lessonId, versionId };
  }

  #onReady(before: StepPosition): void {
    const position = this.#position;
    const { status } = this.#saver.record;
    // The first view creates the record.
    if (position !== before || status === 'not_started') this.#saver.change({ position });
    if (this.#isReady) return;
    this.#isReady = true;
    const { title } = this.#boot;
    const { totalSteps } = this.#positions;
    this.#host.send({ type: 'ready', ...this.#about(), title, totalSteps, status });
  }

  #onStep({ state, completed }: Extract<ProgressMessage, { type: 'step' }>): void {
    const position = this.#position;
    const { progressData } = state;
    this.#saver.change({ position, progressData, ...(completed && { completed }) });
    if (completed) return;
    const status = this.#saver.record.status === 'completed' ? 'completed' : 'in_progress';
    const { totalSteps } = this.#positions;
    this.#host.send({ type: 'step', ...this.#about(), ...position, totalSteps, status });
  }

  #onAnswer({ item, state }: Extract<ProgressMessage, { type: 'answer' }>): void {
    const { answeredAt, ...given } = item;
    const { stepId, widgetId } = given;
    const answered = this.#positions.positionOf(stepId);
    if (answered === undefined || !this.#positions.hasWidget(answered, widgetId)) return;
    this.#saver.dropDrafts({ stepId, widgetId });
    const { progressData } = state;
    const counts = readTries(progressData.tries);
    const { tries = 1 } =
      counts.find((count) => count.stepId === stepId && count.widgetId === widgetId) ?? {};
    const answer = { ...given, ...(tries > 1 && { tries }) };
    this.#saver.change({ position: this.#position, answer, ageMs: ageMsOf(answeredAt), progressData });
  }

  #onDraft({ widgetId, answer, answeredAt }: Extract<ProgressMessage, { type: 'draft' }>): void {
    const position = this.#position;
    const { stepId } = position;
    if (!this.#positions.hasWidget(position, widgetId)) return;
    if (answer === undefined) return this.#saver.dropDrafts({ stepId, widgetId });
    const draft = { stepId, widgetId, answer, score: null, maxScore: null };
    this.#saver.draft(position, draft, ageMsOf(answeredAt));
  }
}

/** Returns the milliseconds since a time by the device's clock, which may differ from the server's. */
function ageMsOf(time: string): number {
  return Math.max(0, Date.now() - Date.parse(time) || 0);
}
