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
  /** Points; null, as is maxScore, for an answer that is not scored. */
  score: number | null;
  maxScore: number | null;
  /** ISO 8601. */
  answeredAt: string;
}

/** An attempt that a learner has finished, with its points. */
export interface FinishedAttempt {
  /** When it was; no other attempt of the learner's has the same. */
  at: Date;
  /** As in {@link ProgressState}. */
  score: number | null;
  maxScore: number | null;
  /** Whether the learner is still in it, and has not started again. */
  isCurrent: boolean;
}

/** How far a learner got in a version of a lesson. Nothing changes one in place. */
export interface ProgressState {
  /** The version that the position, totalSteps and maxScore are counted in. */
  versionId: string;
  /** 0 before the first write; each write adds 1. */
  revision: number;
  /** 1 for the first attempt; each restart adds 1. */
  attempt: number;
  status: ProgressStatus;
  /** Points gained; null until something scored was answered. */
  score: number | null;
  /** Points that could be gained; null when nothing is scored. */
  maxScore: number | null;
  sectionIndex: number;
  stepIndex: number;
  /** The step at that position; null in a version without steps. */
  stepId: string | null;
  totalSteps: number;
  /** JSON text of an object; null when not set. So is variableState. */
  progressData: string | null;
  variableState: string | null;
  /** In the order of their first answers; null while there is none. */
  items: StoredItem[] | null;
  startedAt: Date | null;
  completedAt: Date | null;
  lastActivityAt: Date;
  /** The last attempt that was finished, for gradebooks; no answer of the API has it. */
  finished: FinishedAttempt | null;
}

/** Items as JSON text, each answer as it was sent. */
export function itemsToJson(items: readonly StoredItem[]): string {
  return arrayText(
    items.map(({ widgetId, widgetType, stepId, answer, score, maxScore, answeredAt }) => {
      const raw = new RawJson(answer);
      return printJson({ widgetId, widgetType, stepId, answer: raw, score, maxScore, answeredAt });
    }),
  );
}

/** Reads what {@link itemsToJson} wrote. */
export function itemsFromJson(text: string): StoredItem[] {
  return arrayElements(text).map((element) => {
    const members = objectMembers(element);
    const field = (name: keyof StoredItem): unknown => JSON.parse(members.get(name) ?? 'null');
    return {
      widgetId: field('widgetId') as string,
      widgetType: field('widgetType') as string,
      stepId: field('stepId') as string,
      answer: members.get('answer') ?? 'null',
      score: field('score') as number | null,
      maxScore: field('maxScore') as number | null,
      answeredAt: field('answeredAt') as string,
    };
  });
}
