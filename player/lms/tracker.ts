import type { LessonEvent } from '../lesson/options.ts';
import type { AnswerItem } from '../lesson/state.ts';

/** A session with the platform that records the learner's progress. */
export interface Tracker {
  /** The state of an earlier session, for the player; undefined for a new learner. */
  state: unknown;
  /** `normal`, or why nothing is recorded. */
  mode: 'normal' | 'browse' | 'review';
  /** The learner's choice of sound; undefined for none. */
  isMuted?: boolean;
  /** The languages that the learner prefers, best first. */
  languages?: readonly string[];
  /** Records what has changed. @param item the answer that the event is about */
  update(this: void, event: LessonEvent, item?: AnswerItem): void;
  /** Records everything at once, because the page may not come back. */
  flush(this: void): void;
  /** Ends the session. @param isExit whether the learner leaves, and the platform should close the lesson */
  end(this: void, isExit: boolean): void;
}

/** The events that a tracker reports to the page. */
export interface TrackerEvents {
  /** Called when the platform does not record progress, and when it does so again. */
  onRecording(this: void, isRecording: boolean): void;
}
