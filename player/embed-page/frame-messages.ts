import type { JsonObject } from './session-record.ts';

/**
 * Messages of the inner frame. It runs widgets, so the outer page trusts none of them: it ignores a message that is not
 * one of these, or is too large.
 */
export type FrameMessage =
  | { type: 'ready'; stepId: string; atEnd: boolean }
  | { type: 'step'; stepId: string; state: FrameState; completed: boolean }
  | { type: 'answer'; stepId: string; state: FrameState; item: FrameAnswer }
  /** An unsubmitted answer; undefined once there is none. */
  | { type: 'draft'; stepId: string; widgetId: string; answer: unknown; answeredAt: string }
  | { type: 'variable'; stepId: string; state: FrameState; name: string }
  | { type: 'restart'; stepId: string }
  /** The learner was active on the step. */
  | { type: 'time'; stepId: string; activeMs: number }
  /** The lesson is unmounted. Its widgets' unsubmitted answers came before. */
  | { type: 'unmounted' }
  /** The current heading: of a step, the cover or the end. */
  | { type: 'heading'; heading: string }
  | { type: 'error'; code: string; message: string }
  /** The learner wants to return to the course. */
  | { type: 'leave' }
  /** The learner wants to see the external video with this page. */
  | { type: 'video'; page: string }
  /** The frame needs the steps of a chunk. */
  | { type: 'loadChunk'; chunk: number }
  | { type: 'resize'; height: number };

/** The state for resuming, besides position and answers. */
export interface FrameState {
  progressData: JsonObject;
  variables: JsonObject;
}

export interface FrameAnswer {
  stepId: string;
  widgetId: string;
  answer: unknown;
  /** Both null for an unscored answer. */
  score: number | null;
  maxScore: number | null;
  /** The time by the device's clock: ISO 8601, unless a widget sends something else. */
  answeredAt: string;
}

/** A message holds all variables. The server refuses what is too large for a record. */
const maxMessageChars = 1_000_000;
const maxTextChars = 255;
const maxHeight = 200_000;
const maxPoints = 1000;
/** The maximum time of one report; the frame counts less between two reports. */
const maxActiveMs = 60_000;

/** Reads a message; undefined if the data is no valid message, or too large. */
export function readFrameMessage(data: unknown): FrameMessage | undefined {
  const message = jsonCopy(data);
  if (message === undefined) return undefined;
  const { type, stepId } = message;
  if (type === 'resize') {
    const height = number(message.height, maxHeight);
    return height === null ? undefined : { type, height: Math.ceil(height) };
  }
  if (type === 'error') return { type, code: clipped(message.code), message: clipped(message.message) };
  if (type === 'heading') return { type, heading: clipped(message.heading) };
  if (type === 'unmounted' || type === 'leave') return { type };
  if (type === 'video') return { type, page: clipped(message.page) };
  if (type === 'loadChunk') {
    const { chunk } = message;
    return typeof chunk === 'number' && Number.isSafeInteger(chunk) ? { type, chunk } : undefined;
  }
  if (!isText(stepId)) return undefined;
  if (type === 'ready') return { type, stepId, atEnd: message.atEnd === true };
  if (type === 'restart') return { type, stepId };
  if (type === 'time') return { type, stepId, activeMs: number(message.activeMs, maxActiveMs) ?? 0 };
  if (type === 'draft') {
    const { widgetId, answer, answeredAt } = message;
    return isText(widgetId) ? { type, stepId, widgetId, answer, answeredAt: clipped(answeredAt) } : undefined;
  }
  const state = readState(message.state);
  if (state === undefined) return undefined;
  if (type === 'step') return { type, stepId, state, completed: message.completed === true };
  if (type === 'variable' && isText(message.name) && Object.hasOwn(state.variables, message.name)) {
    return { type, stepId, state, name: message.name };
  }
  const item = type === 'answer' ? readAnswer(message.item) : undefined;
  return item && { type: 'answer', stepId, state, item };
}

function readAnswer(value: unknown): FrameAnswer | undefined {
  if (!isObject(value)) return undefined;
  const { stepId, widgetId, answer } = value;
  if (!isText(stepId) || !isText(widgetId) || answer === undefined) return undefined;
  const score = number(value.score, maxPoints);
  const maxScore = number(value.maxScore, maxPoints);
  const isScored = score !== null && maxScore !== null && score <= maxScore;
  const points = isScored ? { score, maxScore } : { score: null, maxScore: null };
  return { stepId, widgetId, answer, ...points, answeredAt: clipped(value.answeredAt) };
}

function readState(value: unknown): FrameState | undefined {
  if (!isObject(value)) return undefined;
  const { progressData, variables } = value;
  return isObject(progressData) && isObject(variables) ? { progressData, variables } : undefined;
}

/** Returns a copy of a JSON object; undefined for anything else. */
function jsonCopy(data: unknown): JsonObject | undefined {
  try {
    const text = JSON.stringify(data) as string | undefined;
    if (text === undefined || text.length > maxMessageChars) return undefined;
    const copy: unknown = JSON.parse(text);
    return isObject(copy) ? copy : undefined;
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= maxTextChars;
}

function clipped(value: unknown): string {
  return typeof value === 'string' ? value.slice(0, maxTextChars) : '';
}

function number(value: unknown, max: number): number | null {
  return typeof value === 'number' && value >= 0 && value <= max ? value : null;
}
