import type { LessonBoot } from './boot.ts';
import type { FrameMessage } from './frame-messages.ts';
import type { HostLink } from './host-link.ts';
import type { LessonPlaces } from './step-positions.ts';
import { isCompleted } from './save-queue.ts';
import type { Saver } from './saver.ts';
import type { JsonObject, Place, SessionRecord } from './session-record.ts';
import type { QueuedWrite } from './queued-write.ts';

/** What of the frame's messages is about progress. */
export type ProgressMessage = Exclude<FrameMessage, { type: 'resize' | 'error' | 'unmounted' }>;

/** Saves what the learner does, and tells the host of it. */
export interface LearnerProgress {
  /** Of the step that is shown. */
  place(this: void): Place;
  /** The lesson goes on at another place than the frame has told. */
  moveTo(this: void, place: Place): void;
  onMessage(this: void, message: ProgressMessage): void;
  onSaved(this: void, record: SessionRecord, write: QueuedWrite): void;
}

export function learnerProgress(
  boot: Pick<LessonBoot, 'lessonId' | 'versionId' | 'title'>,
  places: LessonPlaces,
  saver: Pick<Saver, 'queue' | 'change' | 'draft' | 'dropDrafts'>,
  host: Pick<HostLink, 'tell'>,
  start: Place,
): LearnerProgress {
  let place = start;
  let isReady = false;
  const about = (): JsonObject => ({ lessonId: boot.lessonId, versionId: boot.versionId });

  function onReady(before: Place): void {
    const { record } = saver.queue();
    // A first look is saved too; where nothing has changed there is nothing to save.
    if (place !== before || record.revision === 0) saver.change({ place });
    if (isReady) return;
    isReady = true;
    const { title } = boot;
    host.tell({ type: 'ready', ...about(), title, totalSteps: places.totalSteps, status: record.status });
  }

  function onStep({ state, completed }: Extract<ProgressMessage, { type: 'step' }>): void {
    const finishes = completed && places.isLast(place);
    saver.change({ place, progressData: state.progressData, completed: finishes });
    if (completed) return;
    const status = isCompleted(saver.queue()) ? 'completed' : 'in_progress';
    host.tell({ type: 'step', ...about(), ...place, totalSteps: places.totalSteps, status });
  }

  function onAnswer({ item, state }: Extract<ProgressMessage, { type: 'answer' }>): void {
    const { stepId, answeredAt, ...answer } = item;
    const asked = places.placeOf(stepId);
    if (asked === undefined || !places.hasWidget(asked, answer.widgetId)) return;
    saver.draft(answer.widgetId, undefined);
    saver.change({ place: asked, answer, age: ageOf(answeredAt), progressData: state.progressData });
    // A widget may report as late as on leaving its step.
    if (asked !== place) saver.change({ place });
  }

  function onDraft({ widgetId, answer, answeredAt }: Extract<ProgressMessage, { type: 'draft' }>): void {
    if (!places.hasWidget(place, widgetId)) return;
    const draft = { place, answer: { widgetId, answer, score: null, maxScore: null } };
    saver.draft(widgetId, answer === undefined ? undefined : { ...draft, age: ageOf(answeredAt) });
  }

  return {
    place: () => place,
    moveTo(other) {
      place = other;
    },
    onMessage(message) {
      const told = places.placeOf(message.stepId);
      if (told === undefined) return;
      const before = place;
      place = told;
      // What a step still had to report came before.
      if (message.type === 'ready' || message.type === 'step' || message.type === 'restart')
        saver.dropDrafts();
      switch (message.type) {
        case 'ready':
          return onReady(before);
        case 'restart':
          return saver.change({ place, restart: true });
        case 'step':
          return onStep(message);
        case 'answer':
          return onAnswer(message);
        case 'draft':
          return onDraft(message);
        case 'variable': {
          const { progressData, variables } = message.state;
          return saver.change({ place, progressData, variables, setVariable: message.name });
        }
      }
    },
    onSaved({ score, maxScore, completedAt, attempt }, write) {
      // The learner may have started again since, elsewhere.
      const isOver = attempt !== undefined && write.attempt !== undefined && write.attempt < attempt;
      if (write.completed && !isOver)
        host.tell({ type: 'complete', ...about(), score, maxScore, completedAt });
    },
  };
}

/** Milliseconds since then: only how long ago something was means something by the server's clock. */
function ageOf(time: string): number {
  return Math.max(0, Date.now() - Date.parse(time) || 0);
}
