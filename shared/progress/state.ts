import { arrayText, objectText } from '../platform/json-text.ts';
import { printJson, RawJson } from '../platform/raw-json.ts';

export const progressStatuses = ['not_started', 'in_progress', 'completed'] as const;

export type ProgressStatus = (typeof progressStatuses)[number];

/** The place of a fact in the order of all facts: its time, and then the id of its write. */
export interface FactOrder {
  /** When it happened: the server's clock minus the age that the player reported. */
  at: Date;
  writeId: string;
}

/** A learner's answer to one widget. */
export interface StoredItem {
  stepId: string;
  widgetId: string;
  widgetType: string;
  /** JSON text. */
  answer: string;
  /** Exact points, not rounded; null for an answer that is not scored, like maxScore. */
  score: number | null;
  maxScore: number | null;
  /** The number of tries in this attempt; 0 while all answers were empty. */
  tries: number;
  /** The time of its {@link FactOrder}. */
  answeredAt: Date;
  writeId: string;
}

/** The value of a variable, with its {@link FactOrder}. */
export interface StoredVariable extends FactOrder {
  name: string;
  /** JSON text. */
  value: string;
}

/** A finished attempt with its points. */
export interface FinishedAttempt {
  /** Time of the finish, unique among a learner's attempts. */
  at: Date;
  /** As in {@link ProgressState}. */
  score: number | null;
  maxScore: number | null;
  /** False after a restart. */
  isCurrent: boolean;
}

/** The attributes of a token, as JSON text of an object. */
export interface StoredAttributes {
  text: string;
  /** Unix time in seconds. */
  issuedAt: number;
}

/** A learner's progress in a version of a lesson. Immutable. */
export interface ProgressState {
  /** The version that the position, totalSteps and maxScore are counted in: the newest one that was written. */
  versionId: string;
  /** 0 before the first write; each stored change adds 1. */
  revision: number;
  /** 1 for the first attempt. Position, state and items are of this attempt. */
  attempt: number;
  status: ProgressStatus;
  /** The exact points earned; null until a scored answer. */
  score: number | null;
  /** Points that can be earned; null if nothing is scored. */
  maxScore: number | null;
  sectionIndex: number;
  stepIndex: number;
  /** The step at that position; null in a version without steps. */
  stepId: string | null;
  /** Null before the first position of the attempt. */
  positionOrder: FactOrder | null;
  totalSteps: number;
  /** JSON text of an object; null if not set. */
  progressData: string | null;
  progressDataOrder: FactOrder | null;
  /** In the order of arrival of their first values. */
  variables: StoredVariable[];
  /** In the order of arrival of their first answers. */
  items: StoredItem[];
  /** The active time on each step of the version, in milliseconds and in playing order; 0 for missing steps at the end. */
  stepTimes: number[];
  /** Those of the token that was issued last; null for LTI users. */
  userAttributes: StoredAttributes | null;
  startedAt: Date | null;
  completedAt: Date | null;
  lastActivityAt: Date;
  /** The last finished attempt, for gradebooks; not in any response. */
  finished: FinishedAttempt | null;
  /** Ids of the last writes: they add their active time once. */
  recentWriteIds: string[];
}

/** Returns the items as integrators and players get them; null if there is none. Answers stay byte for byte as they were sent. */
export function itemsJson(items: readonly StoredItem[]): RawJson | null {
  if (items.length === 0) return null;
  const texts = items.map(({ widgetId, widgetType, stepId, answer, score, maxScore, answeredAt, tries }) =>
    printJson({
      ...{ widgetId, widgetType, stepId, answer: new RawJson(answer), score, maxScore, answeredAt },
      ...(tries !== 1 && { tries }),
    }),
  );
  return new RawJson(arrayText(texts));
}

/** Returns the variables as an object; null if none is set. Values stay byte for byte as they were sent. */
export function variablesJson(variables: readonly StoredVariable[]): RawJson | null {
  if (variables.length === 0) return null;
  return new RawJson(objectText(variables.map(({ name, value }) => [name, value])));
}
