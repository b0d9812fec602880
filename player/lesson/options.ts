import type { Widget, WidgetCode } from '../widget.ts';
import type { AnswerItem, LessonState } from './state.ts';

/** The options of `mountLesson`. docs/player.md describes them, too: change both. */
export interface LessonOptions {
  /** The player becomes its last child. Its width decides the layout. */
  element: HTMLElement;
  /** The lesson, as player-data returns it or as in lesson.json. Give this or `base`. */
  lesson?: unknown;
  /**
   * URL of a folder with lesson.json, and optionally manifest.json: an unpacked archive. The player loads media and
   * widgets from there. Relative to the page.
   */
  base?: string | URL;
  /** The version that is played, reported in every event. With `base`, the default is the manifest's. */
  versionId?: string;
  /** An earlier event or result of `handle.state()`, or a record of the session endpoint. */
  state?: unknown;
  /** Id of the step to start at, instead of the one in `state`: a deep link. */
  startAt?: string;
  /** Id of a block of that step, which is scrolled into view and outlined. */
  startAtBlock?: string;
  /** A BCP 47 tag. The default is the lesson's own language, or else `en`. */
  language?: string;
  /** Returns the URL of `media:<uuid>`, `./media/<uuid>.<ext>` or any other URL. Returns unknown ones unchanged. */
  resolveMedia?(this: void, src: string): string;
  /**
   * Loads a custom widget; null for unknown types. Called before the player looks in `base`. A widget is a part of your
   * page; its code runs in a sandboxed frame instead.
   */
  loadWidget?(this: void, type: string): Promise<Widget | WidgetCode | null>;
  /** Whether the lesson begins with its cover, if it has one; true by default, and false after `startAt`. */
  cover?: boolean;
  /** A picture beside the lesson's title, such as the logo of the organization. */
  logo?: { src: string; alt: string };
  /** An element beside the position, such as one that shows whether answers are saved. It should be small. */
  status?: HTMLElement;
  /** The credits of media, as in player data and manifest.json. By default, those of the lesson or the archive. */
  attributions?: readonly { mediaId: string; text: string; url: string; portfolioUrl: string }[];
  /** Names of core widgets for which `loadWidget` or the archive has a widget that the lesson plays instead. */
  ownTypes?: readonly string[];
  /** Milliseconds after which a notice replaces a widget that is still loading. */
  widgetTimeout?: number;
  /** Whether a course gets the result as a grade when the learner finishes. The player shows it before. */
  sendsGrade?: boolean;
  /**
   * Whether the page has the button "Present", for teachers: the lesson then fills the screen, in large type. It sets the
   * font size of the whole page meanwhile.
   */
  canPresent?: boolean;
  /** Whether the outline also offers to print the lesson with the right answers, for teachers. */
  canPrintAnswers?: boolean;
  /**
   * Opens the external video with this page, at YouTube or Vimeo, after the learner's press. Without it, the player shows
   * a link.
   */
  openVideo?(this: void, page: string): void;
  /** Returns to the course. With it, the end has a button that does so. */
  onLeave?(this: void): void;
  /** Called when the first step, or the cover before it, is on the page. */
  onReady?(this: void, event: LessonEvent): void;
  /** Called when another step is on the page or, after the last one, the end (`progressData.atEnd`). */
  onStepChange?(this: void, event: LessonEvent): void;
  /**
   * Called after onReady and onStepChange, and when the learner leaves the cover, with the heading on the page: the
   * lesson's title on the cover, the step's title, or that the lesson is complete. Put it into your page's title.
   */
  onHeading?(this: void, heading: string): void;
  /** Called when the learner has finished the lesson: once, and once more after each restart. */
  onComplete?(this: void, event: LessonEvent): void;
  /** Called when a widget has reported an answer. */
  onAnswer?(this: void, event: AnswerEvent): void;
  /**
   * Called when the learner has changed an answer that is not submitted. With this callback, the player does not save
   * drafts: save the draft as an answer when the page is closed. A draft ends with the answer or with the step.
   */
  onDraft?(this: void, event: DraftEvent): void;
  /** Called when a variable has another value; if an answer sets it, before `onAnswer`. */
  onVariableChange?(this: void, event: VariableEvent): void;
  /** Called when the learner has cleared all answers. A step change follows. */
  onRestart?(this: void, event: LessonEvent): void;
  /** Called when something cannot be shown or kept. The lesson continues unless the code says otherwise. */
  onError?(this: void, error: LessonError): void;
}

/** The argument of every callback but onError: a copy, usable as `state`. */
export interface LessonEvent extends LessonState {
  lessonId: string;
  /** Null if unknown. */
  versionId: string | null;
  totalSteps: number;
  /** Points earned; null until a scored answer. */
  score: number | null;
  /** Points that can be earned; null if nothing is scored. */
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
  /** Undefined once there is no draft. */
  answer: unknown;
  /** ISO 8601. */
  at: string;
}

export interface VariableEvent extends LessonEvent {
  name: string;
  value: unknown;
}

export type LessonErrorCode =
  /** The value is not a lesson, or has no steps: nothing is played. */
  | 'invalid_lesson'
  /** The lesson could not be fetched from `base`: nothing is played. */
  | 'lesson_not_loaded'
  /** The step could not be loaded, in the embed page: the page retries. */
  | 'step_not_loaded'
  | 'unknown_widget'
  | 'widget_not_loaded'
  /** The widget did not load within `widgetTimeout`; it is shown if it arrives later. */
  | 'widget_late'
  /** The widget threw. */
  | 'widget_failed'
  /** The answer is not JSON, its result is out of bounds, or its block has no id: it is not kept. */
  | 'invalid_answer';

export interface LessonError {
  code: LessonErrorCode;
  /** For developers, in English. */
  message: string;
  cause?: unknown;
  /** The block with the error. */
  stepId?: string;
  widgetId?: string;
  widgetType?: string;
}

/** Controls a mounted lesson. */
export interface LessonHandle {
  /**
   * Goes to a step or, with null, to the end of a completed lesson. Returns false if the lesson is not ready, has no
   * such step, or is not completed.
   */
  goTo(this: void, stepId: string | null): boolean;
  /** Goes to the next step or, after the last one, finishes without asking. Returns false at the end. */
  next(this: void): boolean;
  /** Goes back as the Back button does. Returns false on the first step. */
  back(this: void): boolean;
  /** Returns a copy of the state, to store for resuming; undefined before onReady. */
  state(this: void): LessonState | undefined;
  /** Removes the player from the page. No callback is called afterward. */
  destroy(this: void): void;
}
