import { cutText } from '../lessons/block-names.ts';
import type { ReportEntry, Result } from '../lessons/loss-report.ts';
import type { ConvertedBlock } from './converted-lesson.ts';
import { SourceFault } from './source.ts';

type Noted = Omit<ReportEntry, 'reason' | 'stepId' | 'blockId'> & {
  reason: string | null;
  block: ConvertedBlock | null;
};

/** The maximum number of elements in a report. */
const maxEntries = 40_000;
const maxPathLength = 500;
const maxKindLength = 100;
const maxTitleLength = 120;
const maxReasonLength = 500;

/** Collects what became of the elements of a source, in its order. Each element appears once. */
export class ConversionReport {
  readonly entries: Noted[] = [];

  /**
   * Reports an element.
   *
   * @param losses what is lost, each as a phrase; empty if nothing is
   * @param block the block that it became, which the console links to
   * @throws {SourceFault} beyond the limit
   */
  add(
    { path, kind, title }: Pick<ReportEntry, 'path' | 'kind' | 'title'>,
    {
      result,
      losses = [],
      block = null,
    }: { result?: Result; losses?: string[]; block?: ConvertedBlock | null },
  ): void {
    if (this.entries.length >= maxEntries) {
      throw new SourceFault(`The source has more than ${maxEntries} elements. Divide it.`);
    }
    this.entries.push({
      ...{ path: cutText(path, maxPathLength - 1), kind: cutText(kind, maxKindLength - 1), block },
      title: cutText(title.replaceAll(/\s+/g, ' ').trim(), maxTitleLength - 1),
      result: result ?? (losses.length > 0 ? 'partial' : 'converted'),
      reason: losses.length === 0 ? null : cutText(losses.join('; '), maxReasonLength - 1),
    });
  }
}
