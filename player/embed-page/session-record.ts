/** A JSON object. */
export type JsonObject = Record<string, unknown>;

/** Where a learner is. The indexes count in playing order, from zero. */
export interface Place {
  sectionIndex: number;
  stepIndex: number;
  stepId: string;
}

/** An answer as a record has it. */
export interface StoredAnswer {
  stepId: string;
  widgetId: string;
  widgetType?: string;
  answer: unknown;
  score: number | null;
  maxScore: number | null;
  /** ISO 8601. */
  answeredAt: string;
}

/** What the session address answers with, as far as the embed page needs it (docs/progress.md). */
export interface SessionRecord {
  revision: number;
  /** 1 for the first attempt; undefined from a server that does not count them yet. */
  attempt?: number;
  versionId: string;
  status: 'not_started' | 'in_progress' | 'completed';
  score: number | null;
  maxScore: number | null;
  currentSectionIndex: number;
  currentStepIndex: number;
  /** The step at that position where it is known: the server does not tell it. */
  stepId?: string;
  progressData: JsonObject | null;
  variableState: JsonObject | null;
  items: StoredAnswer[] | null;
  completedAt: string | null;
  lastActivityAt: string;
}

/** A record of the session address; undefined for anything else, such as the page of a captive network. */
export function readRecord(value: unknown): SessionRecord | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { revision, versionId } = value as Partial<SessionRecord>;
  return typeof revision === 'number' && typeof versionId === 'string' ? (value as SessionRecord) : undefined;
}
