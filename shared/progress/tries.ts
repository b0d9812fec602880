import { listOf, recordOf } from '../lessons/json-values.ts';

/** The most tries of a question that players report. */
export const maxTries = 1000;

/** How often a learner has answered a widget. */
export interface WidgetTries {
  stepId: string;
  widgetId: string;
  tries: number;
}

/** Reads a player's counts, or a record's items. They may come from another release, or be broken. */
export function readTries(value: unknown): WidgetTries[] {
  return listOf(value).flatMap((entry) => {
    const { stepId, widgetId, tries } = recordOf(entry);
    if (typeof stepId !== 'string' || typeof widgetId !== 'string') return [];
    return Number.isSafeInteger(tries)
      ? [{ stepId, widgetId, tries: Math.min(tries as number, maxTries) }]
      : [];
  });
}
