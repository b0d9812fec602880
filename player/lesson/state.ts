/** A learner's last answer to one widget: an item of the progress record. */
export interface AnswerItem {
  /** Unique in the step only. */
  widgetId: string;
  widgetType: string;
  stepId: string;
  /** Any JSON value. */
  answer: unknown;
  /** Points; null, as is maxScore, for an answer that is not scored. */
  score: number | null;
  maxScore: number | null;
  /** ISO 8601. */
  answeredAt: string;
}

/** What the player keeps for resuming, beside position, answers and variables. */
export interface ProgressData {
  /** Ids of the steps that were seen, in the order they were first seen. */
  visited: string[];
  /** Whether this attempt was finished. */
  completed: boolean;
  /** Whether the page after the last step is shown. */
  atEnd: boolean;
  /** How often widgets were answered, for those answered more than once. */
  tries: { stepId: string; widgetId: string; tries: number }[];
}

/** Where a learner is, and all that was done on the way. JSON: it can be stored, and given back as `state`. */
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
