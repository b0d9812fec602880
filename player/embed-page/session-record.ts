/** A JSON object. */
export type JsonObject = Record<string, unknown>;

/** The position of a step. The indexes count in playing order, from zero. */
export interface StepPosition {
  sectionIndex: number;
  stepIndex: number;
  stepId: string;
}

/** An answer in a record. */
export interface StoredAnswer {
  stepId: string;
  widgetId: string;
  widgetType?: string;
  answer: unknown;
  score: number | null;
  maxScore: number | null;
  /** ISO 8601. */
  answeredAt: string;
  /** Missing for 1. */
  tries?: number;
}

/** The response of the session endpoint, as far as the embed page needs it (docs/player-api.md). */
export interface SessionRecord {
  /** 1 for the first attempt. */
  attempt: number;
  attemptCompleted: boolean;
  versionId: string;
  status: 'not_started' | 'in_progress' | 'completed';
  score: number | null;
  maxScore: number | null;
  currentSectionIndex: number;
  currentStepIndex: number;
  /** The step at that position, if this tab knows it; the server does not send it. */
  stepId?: string;
  progressData: JsonObject | null;
  variableState: JsonObject | null;
  items: StoredAnswer[] | null;
  completedAt: string | null;
}

/** Reads a record; undefined for anything else, such as the page of a captive portal. */
export function readRecord(value: unknown): SessionRecord | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { attempt, versionId } = value as Partial<SessionRecord>;
  return typeof attempt === 'number' && typeof versionId === 'string' ? (value as SessionRecord) : undefined;
}
