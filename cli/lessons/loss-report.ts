import { countResults, results } from '../../shared/lessons/loss-report.ts';
import type { StoredReport } from '../../shared/lessons/loss-report.ts';
import { quote } from '../../shared/lessons/json-values.ts';

/** The maximum number of printed elements; `--json` has all. */
const maxPrinted = 50;

/** Returns a loss report as `--json` prints it: as the API does. Null for a package. */
export function presentReport(report: StoredReport | null): object | null {
  return report && { format: report.format, ...countResults(report.entries), entries: report.entries };
}

/** Describes a loss report: how many elements have each result, and the elements that are not as they were. */
export function describeReport({ format, entries }: StoredReport): string[] {
  const counts = countResults(entries);
  const shown = results.filter((result) => counts[result] > 0).map((result) => `${counts[result]} ${result}`);
  const changed = entries.filter(({ result }) => result !== 'converted');
  const more = changed.length - maxPrinted;
  return [
    `  from ${format}: ${shown.length === 0 ? 'no elements' : shown.join(', ')}`,
    ...changed.slice(0, maxPrinted).map(({ path, kind, title, result, reason }) => {
      const what = title === '' ? kind : `${kind} ${quote(title, 60)}`;
      return `    ${path}: ${what} is ${result}${reason === null ? '' : `: ${reason}`}`;
    }),
    ...(more > 0 ? [`    and ${more} more; --json lists all`] : []),
  ];
}
