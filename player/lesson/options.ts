import type { Widget } from '../widget.ts';
import type { AnswerItem, LessonState } from './state.ts';

/** What `mountLesson` takes. docs/player.md tells it to those who mount lessons; the two are kept in step. */
export interface LessonOptions {
  /** The player becomes its last child. Its width decides the layout. */
  element: HTMLElement;
  /** The lesson, as player-data returns it or as lesson.json holds it. Give this or `base`. */
  lesson?: unknown;
  /**
   * Address of a folder with lesson.json, and manifest.json where there is one: an unpacked archive. Media and
   * widgets are loaded from there. Relative to the page.
   */
  base?: string | URL;
  /** The version that is played, reported in every event. Left out with `base`, it is the manifest's. */
  versionId?: string;
  /** What an event or `handle.state()` held earlier, or a record of the session address. */
  state?: unknown;
  /** Id of the step to start at, instead of the one in `state`: a deep link. */
  startAt?: string;
  /** A BCP 47 tag; else the lesson's own language, else `en`. */
  language?: string;
  /** The address of `media:<uuid>`, `./media/<uuid>.<ext>` or any other address. What it does not know it returns. */
  resolveMedia?(this: void, src: string): string;
  /** Loads a widget that is not a core widget; null for a type it does not know. Asked before the `base`. */
  loadWidget?(this: void, type: string): Promise<Widget | null>;
  /** Milliseconds after which a notice stands in the place of a widget that is not there yet. */
  widgetTimeout?: number;
  /** The first step is on the page. */
  onReady?(this: void, event: LessonEvent): void;
  /** Another step is on the page, or, after the last one, the end (`progressData.atEnd`). */
  onStepChange?(this: void, event: LessonEvent): void;
  /** The learner has finished the lesson: once, and once more after each restart. */
  onComplete?(this: void, event: LessonEvent): void;
  /** A widget has reported an answer. */
  onAnswer?(this: void, event: AnswerEvent): void;
  /**
   * The learner has changed an answer that is not submitted. Keep it and save it as an answer when the page is closed:
   * with this callback the player does not. A draft ends with the answer, or with the step.
   */
  onDraft?(this: void, event: DraftEvent): void;
  /** A variable has another value. One that an answer sets is reported before that answer. */
  onVariableChange?(this: void, event: VariableEvent): void;
  /** The learner has cleared all answers. A step change follows. */
  onRestart?(this: void, event: LessonEvent): void;
  /** Something could not be shown or kept. The lesson goes on unless the code says that there is none. */
  onError?(this: void, error: LessonError): void;
}

/** What every callback but onError gets: a copy, and good as `state`. */
export interface LessonEvent extends LessonState {
  lessonId: string;
  /** Null when nobody told it. */
  versionId: string | null;
  totalSteps: number;
  /** Points gained; null until something scored was answered. */
  score: number | null;
  /** Points that can be gained; null when nothing is scored. */
  maxScore: number | null;
  /** ISO 8601. */
  at: string;
}

export interface AnswerEvent extends LessonEvent {
  /** The new one among `items`. */
  item: AnswerItem;
}

export interface DraftEvent {
  stepId: string;
  widgetId: string;
  /** Undefined when there is no draft any more. */
  answer: unknown;
  /** ISO 8601. */
  at: string;
}

export interface VariableEvent extends LessonEvent {
  name: string;
  value: unknown;
}

export type LessonErrorCode =
  /** The value is no lesson, or has no steps: nothing is played. */
  | 'invalid_lesson'
  /** The lesson could not be fetched from `base`: nothing is played. */
  | 'lesson_not_loaded'
  | 'unknown_widget'
  | 'widget_not_loaded'
  /** The widget is not there after `widgetTimeout`; it is shown if it comes later. */
  | 'widget_late'
  /** The widget threw. */
  | 'widget_failed'
  /** An answer or result that breaks the contract, or one of a block without an id; it is not kept. */
  | 'invalid_answer';

export interface LessonError {
  code: LessonErrorCode;
  /** For developers, in English. */
  message: string;
  cause?: unknown;
  /** The block that it is about. */
  stepId?: string;
  widgetId?: string;
  widgetType?: string;
}

/** What `mountLesson` returns. */
export interface LessonHandle {
  /** Goes to a step; false when the lesson is not there yet or has no such step. */
  goTo(this: void, stepId: string): boolean;
  /** As the buttons do. False at the end and at the beginning. */
  next(this: void): boolean;
  back(this: void): boolean;
  /** What to store for resuming, a copy; undefined before onReady. */
  state(this: void): LessonState | undefined;
  /** Removes the player from the page. No callback is called afterwards. */
  destroy(this: void): void;
}
