/** The exports of the player's bundles. */
export { mountLesson } from './lesson/mount-lesson.ts';
export type {
  AnswerEvent,
  LessonError,
  LessonErrorCode,
  LessonEvent,
  LessonHandle,
  LessonOptions,
  VariableEvent,
} from './lesson/options.ts';
export type { AnswerItem, LessonState, ProgressData } from './lesson/state.ts';
export type {
  AnswerResult,
  Block,
  MountedWidget,
  MountOptions,
  Widget,
  WidgetCode,
  WidgetContext,
} from './widget.ts';
