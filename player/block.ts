// Types without the DOM, apart from widget.ts, for modules that Node.js tests import.

/** One block of a step: `type` names the widget, `props` are the author's settings for it. */
export interface Block {
  type: string;
  props: Record<string, unknown>;
}

/** The points of a scored answer: `0 <= score <= maxScore`. */
export interface AnswerResult {
  score: number;
  maxScore: number;
}
