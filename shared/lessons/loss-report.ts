/**
 * - `converted`: nothing is lost
 * - `partial`: something is lost, which the reason names
 * - `kept`: it plays in its original form
 * - `dropped`: it is missing in the lesson
 */
export const results = ['converted', 'partial', 'kept', 'dropped'] as const;
export type Result = (typeof results)[number];

/** What became of an element of the source. */
export interface ReportEntry {
  /** Where the element is in the source: a file with a line, or a path inside it. */
  path: string;
  /** As the format calls it. */
  kind: string;
  /** The first words of the element; may be empty. */
  title: string;
  result: Result;
  /** Null for converted elements. */
  reason: string | null;
  /** The ids of its step and block in the lesson; null without a block. */
  stepId: string | null;
  blockId: string | null;
}

/** The loss report of a source, as Lectern stores it with the version. */
export interface StoredReport {
  /** The id of the converter. */
  format: string;
  entries: ReportEntry[];
}

export type ResultCounts = Record<Result, number>;

export function countResults(entries: readonly Pick<ReportEntry, 'result'>[]): ResultCounts {
  const counts: ResultCounts = { converted: 0, partial: 0, kept: 0, dropped: 0 };
  for (const { result } of entries) counts[result] += 1;
  return counts;
}
