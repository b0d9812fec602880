/** One block of a step: `type` names the widget, `props` are the author's settings for it. */
export interface Block {
  type: string;
  props: Record<string, unknown>;
}

/** What a scored answer earned: `0 <= score <= maxScore`, in points. */
export interface AnswerResult {
  score: number;
  maxScore: number;
}
