/** A learner's last answer to one widget: an item of the progress record. */
export interface AnswerItem {
  /** Unique in the step only. */
  widgetId: string;
  widgetType: string;
  stepId: string;
  /** Any JSON value. */
  answer: unknown;
  /** Points; null for an answer that is not scored, like maxScore. */
  score: number | null;
  maxScore: number | null;
  /** ISO 8601. */
  answeredAt: string;
}

/** The player's further state for resuming. */
export interface ProgressData {
  /** Ids of the seen steps, in the order in which the learner first saw them. */
  visited: string[];
  /** Whether this attempt was finished. */
  completed: boolean;
  /** Whether the page after the last step is shown. */
  atEnd: boolean;
  /** Numbers of answers, for widgets that were answered more than once. */
  tries: { stepId: string; widgetId: string; tries: number }[];
}

/** A learner's position, answers and variables. JSON: store it, and pass it as `state` later. */
export interface LessonState {
  /** From zero, in playing order; sections and steps are ordered by order_index. */
  sectionIndex: number;
  stepIndex: number;
  stepId: string;
  /** In the order of the first answers. */
  items: AnswerItem[];
  variableState: Record<string, unknown>;
  progressData: ProgressData;
}
