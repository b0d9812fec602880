import { arrayElements, arrayText, objectMembers } from '../platform/json-text.ts';
import { printJson, RawJson } from '../platform/raw-json.ts';

export const progressStatuses = ['not_started', 'in_progress', 'completed'] as const;

export type ProgressStatus = (typeof progressStatuses)[number];

/** A learner's last answer to one widget. */
export interface StoredItem {
  widgetId: string;
  widgetType: string;
  stepId: string;
  /** JSON text. */
  answer: string;
  /** Exact points, not rounded; null for an answer that is not scored, like maxScore. */
  score: number | null;
  maxScore: number | null;
  /** ISO 8601. */
  answeredAt: string;
  /** The number of tries in this attempt; missing for 1, and 0 while all answers were empty. */
  tries?: number;
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

/** A learner's progress in a version of a lesson. Immutable. */
export interface ProgressState {
  /** The version that the position, totalSteps and maxScore are counted in. */
  versionId: string;
  /** 0 before the first write; each write adds 1. */
  revision: number;
  /** 1 for the first attempt; each restart adds 1. */
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
  totalSteps: number;
  /** JSON text of an object; null if not set. The same applies to variableState. */
  progressData: string | null;
  variableState: string | null;
  /** In the order of their first answers; null if there is none. */
  items: StoredItem[] | null;
  /** The active time on each step of the version, in milliseconds and in playing order; 0 for missing steps at the end. */
  stepTimes: number[];
  startedAt: Date | null;
  completedAt: Date | null;
  lastActivityAt: Date;
  /** The last finished attempt, for gradebooks; not in any response. */
  finished: FinishedAttempt | null;
}

/** Prints items as JSON text. Answers stay byte for byte as they were sent. */
export function itemsToJson(items: readonly StoredItem[]): string {
  return arrayText(
    items.map(({ widgetId, widgetType, stepId, answer, score, maxScore, answeredAt, tries }) => {
      const raw = new RawJson(answer);
      const item = { widgetId, widgetType, stepId, answer: raw, score, maxScore, answeredAt };
      return printJson(tries === undefined ? item : { ...item, tries });
    }),
  );
}

/** Reads the text of {@link itemsToJson}. */
export function itemsFromJson(text: string): StoredItem[] {
  return arrayElements(text).map((element) => {
    const members = objectMembers(element);
    const field = (name: keyof StoredItem): unknown => JSON.parse(members.get(name) ?? 'null');
    const tries = field('tries') as number | null;
    return {
      widgetId: field('widgetId') as string,
      widgetType: field('widgetType') as string,
      stepId: field('stepId') as string,
      answer: members.get('answer') ?? 'null',
      score: field('score') as number | null,
      maxScore: field('maxScore') as number | null,
      answeredAt: field('answeredAt') as string,
      ...(tries !== null && { tries }),
    };
  });
}
