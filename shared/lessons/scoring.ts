/** The pure rules that score answers to core widgets, in the player and on the server, which decides. */

/** What an answer earned, in points: `0 <= score <= maxScore`. */
export interface Score {
  score: number;
  maxScore: number;
}

/** The parts of a question that scoring needs. The outline of a version keeps them. */
export interface QuestionFacts {
  choices: { id: string }[];
  /** Ids of the right choices, each one of `choices`, each once. */
  correct: string[];
  /** What a right answer earns; 0 for a question that is not scored. */
  points: number;
  partialCredit: boolean;
}

/** The scoring of a core widget. */
export interface WidgetScoring {
  /** Returns the part of a block's props that scoring needs; null for a block that is not scored. */
  questionOf: (props: unknown) => QuestionFacts | null;
  /** Returns what an answer earns; null for a question that is not scored. */
  score: (question: QuestionFacts, answer: unknown) => Score | null;
  /** Returns an author's probable mistakes in the props of a question. */
  faultsOf: (props: Record<string, unknown>) => string[];
}
