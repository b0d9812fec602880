/** The maximum number of tries that players report for a question. */
export const maxTries = 1000;

/** The number of tries that a learner has used on a widget. */
export interface WidgetTries {
  stepId: string;
  widgetId: string;
  tries: number;
}

/** Reads a player's counts or a record's items, which may come from another release or be invalid. */
export function readTries(value: unknown): WidgetTries[] {
  const entries: unknown[] = Array.isArray(value) ? value : [];
  return entries.flatMap((entry) => {
    const { stepId, widgetId, tries } = (entry ?? {}) as Record<string, unknown>;
    if (typeof stepId !== 'string' || typeof widgetId !== 'string') return [];
    return Number.isSafeInteger(tries)
      ? [{ stepId, widgetId, tries: Math.min(tries as number, maxTries) }]
      : [];
  });
}
