import { isContainer, recordOf } from '../../lessons/json-values.ts';
import type { ReportEntry } from '../../lessons/loss-report.ts';
import type { ConversionReport } from '../report.ts';
import { SourceFault } from '../source.ts';
import type { Source } from '../source.ts';
import { isContent } from './contents.ts';
import type { Conversion, H5pContent } from './contents.ts';
import { forbidsAdaptation, titleIn } from './credits.ts';
import { plainOf } from './texts.ts';

export const contentFile = 'content/content.json';

/** The conversion and the report take less than a second for so many. */
const maxElements = 20_000;

/** A content in content.json, at its place. */
interface PlacedContent {
  value: Record<string, unknown>;
  /** The file and a JSON pointer. */
  path: string;
  /** The content that it is in. */
  around: object | null;
}

/** Reports each content in the order of content.json, and then each file. */
export function reportElements(
  whole: Record<string, unknown>,
  source: Source,
  report: ConversionReport,
  { contents, files }: Conversion,
): void {
  const elements = [
    { value: whole, path: contentFile, around: null },
    ...contentsIn(whole.params, `${contentFile}#`, whole),
  ];
  const own = source.files.filter(({ path }) => path.startsWith('content/') && path !== contentFile);
  const total = elements.length + own.length;
  if (total > maxElements) {
    throw new SourceFault(`${source.name}: has ${total} elements; at most ${maxElements} are allowed`);
  }
  for (const { value, path, around } of elements) {
    const content = contents.get(value);
    if (content === undefined) reportUnread(report, { value, path, around }, contents);
    else reportContent(report, content, path);
  }
  for (const { path } of own) {
    const element = { path, kind: 'file', title: path.slice(path.lastIndexOf('/') + 1) };
    const license = files.get(path);
    if (license === undefined) report.add(element, { result: 'dropped', losses: ['no block shows it'] });
    else if (!forbidsAdaptation(license)) report.add(element, {});
    else report.add(element, { result: 'kept', losses: [adaptationWarning(license)] });
  }
}

/** Lists the contents in a value. */
function* contentsIn(value: unknown, path: string, around: object): Generator<PlacedContent> {
  if (!isContainer(value)) return;
  if (isContent(value)) yield { value, path, around };
  for (const [key, member] of Object.entries(value)) {
    const pointer = key.replaceAll('~', '~0').replaceAll('/', '~1');
    yield* contentsIn(member, `${path}/${pointer}`, isContent(value) ? value : around);
  }
}

function reportContent(report: ConversionReport, content: H5pContent, path: string): void {
  const { type: kind, title, block, blocks, license } = content;
  const losses = [...content.losses];
  const element = { path, kind, title };
  if (blocks === null) {
    report.add(element, { result: 'dropped', losses });
    return;
  }
  const isKept = forbidsAdaptation(license) && losses.length === 0;
  if (forbidsAdaptation(license)) losses.push(adaptationWarning(license));
  report.add(element, { losses, block, ...(isKept && { result: 'kept' as const }) });
}

/** Reports a content that no type has read, because it is in a dropped one or in a field without a counterpart. */
function reportUnread(
  report: ConversionReport,
  { value, path, around }: PlacedContent,
  contents: Conversion['contents'],
): void {
  const element: Pick<ReportEntry, 'path' | 'kind' | 'title'> = {
    path,
    kind: plainOf(value.library).split(' ')[0] ?? '',
    title: titleIn(recordOf(value.metadata)),
  };
  const parent = around === null ? undefined : contents.get(around);
  const isShown = parent !== undefined && parent.blocks !== null;
  const reason = isShown
    ? `Lectern has no place for it in ${parent.type}`
    : 'it is part of a content that is dropped';
  report.add(element, { result: 'dropped', losses: [reason] });
}

function adaptationWarning(license: string): string {
  return `its license, ${license}, forbids adaptations: do not change it`;
}
