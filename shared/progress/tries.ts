/** The most tries of a question that players report. */
export const maxTries = 1000;

/** How many tries a learner has used on a widget. */
export interface WidgetTries {
  stepId: string;
  widgetId: string;
  tries: number;
}

/** Reads a player's counts, or a record's items. They may come from another release, or be invalid. */
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
