import { maxUrlLength } from './text-shapes.ts';

/** An http or https URL of a manifest's list of failures, which nothing has checked; undefined for anything else. */
export function httpUrl(text: string | null | undefined): string | undefined {
  if (typeof text !== 'string' || text.length > maxUrlLength) return undefined;
  return /^https?:\/\//i.test(text) && URL.canParse(text) ? text : undefined;
}
