import { randomUUID } from 'node:crypto';
import { usedWidgetTypes } from '../lessons/blocks.ts';
import type { ReportEntry, StoredReport } from '../lessons/loss-report.ts';
import { pictureOf } from '../lessons/cover.ts';
import { mediaReferences, rewriteMediaReferences } from '../lessons/media-references.ts';
import { playabilityErrors } from '../lessons/playability.ts';
import { totalsOf } from '../lessons/totals.ts';
import { attributionsOf, externalPicturesOf } from '../lessons/player-lesson.ts';
import { contentParts } from '../models/gzip-parts.ts';
import type { PreparedText } from '../models/prepared-lesson.ts';
import { prepareLesson } from '../player/prepare-lesson.ts';
import type { FileLocation } from './file-location.ts';
import type {
  CheckedLesson,
  CheckedPackage,
  LessonPackage,
  PackageFile,
  PackageFiles,
  PackageMedium,
  PackageWidget,
} from './lesson-package.ts';
import { PackageError } from './package-error.ts';
import { FaultyPackageError, openAnyFormat, readPackage } from './read-package.ts';
import type { ReadPackageOptions } from './read-package.ts';
import { giftFiles, markdownFiles, qtiFiles } from './write-lesson.ts';
import type { WrittenFiles } from './write-lesson.ts';
import { groupsOf } from '../platform/groups.ts';

/** The input of the task that reads a package. */
export interface PackageRequest {
  path: string;
  options: ReadPackageOptions;
  /** Makes a copy: new ids for lesson, version and media. */
  asNew: boolean;
}

/** The data of a file, which another process opens. */
type FileData = Omit<PackageFile, 'open'>;
export type MediumData = Omit<PackageMedium, 'file'> & { file?: FileData };
export type WidgetData = Omit<PackageWidget, 'js' | 'css'> & { js: FileData; css?: FileData };

/** A part of the result of the task that reads a package. */
export type PackagePart =
  | { kind: 'faults'; faults: string[]; total: number; isCutShort: boolean }
  | { kind: 'media'; media: MediumData[] }
  | { kind: 'widgets'; widgets: WidgetData[] }
  | { kind: 'content'; content: Buffer }
  | { kind: 'report'; format: string; entries: ReportEntry[] }
  | { kind: 'prepared'; text: PreparedText }
  | {
      kind: 'package';
      package: Omit<CheckedPackage, 'media' | 'widgets' | 'lesson' | 'report'>;
      lesson: Omit<CheckedLesson, 'content' | 'prepared'>;
    };

type ReportPart = Extract<PackagePart, { kind: 'report' }>;

/** The number of files in a part of the result. */
const filesPerPart = 250;
/** The number of elements of a source in a part of the result. */
const entriesPerPart = 1_000;

/** The maximum number of reasons why a lesson cannot be played. */
const maxPlayabilityErrors = 1_000;

/** The task that reads, checks, converts and prepares a package. */
export async function* readPackageTask({
  path,
  options,
  asNew,
}: PackageRequest): AsyncGenerator<PackagePart> {
  try {
    const read = await readPackage(path, options);
    yield* partsOf(asNew ? withNewIds(read) : read);
  } catch (error) {
    if (!(error instanceof PackageError)) throw error;
    if (error instanceof FaultyPackageError) yield* filesOf(error.files);
    const { faults, total, isCutShort } = error;
    yield { kind: 'faults', faults, total, isCutShort };
  }
}

/** A part of the result of the task that converts a source. */
export type ConvertedPart =
  | { kind: 'losses'; losses: string[] }
  | Extract<PackagePart, { kind: 'faults' } | { kind: 'report' }>
  | { kind: 'files'; files: FileLocation[] };

/** The task that makes a package of a source in another format. */
export async function* convertSourceTask({ path, options }: PackageRequest): AsyncGenerator<ConvertedPart> {
  try {
    const { source, report } = await openAnyFormat(path, options);
    if (report === null) throw new PackageError([`${options.name ?? path}: is a lesson package already`]);
    yield* reportParts(report);
    for (const some of groupsOf(source.files, filesPerPart)) {
      yield { kind: 'files', files: some.flatMap((file) => source.locate(file.path) ?? []) };
    }
  } catch (error) {
    if (!(error instanceof PackageError)) throw error;
    const { faults, total, isCutShort } = error;
    yield { kind: 'faults', faults, total, isCutShort };
  }
}

/** The task that writes a lesson as Markdown. */
export function writeMarkdownTask(request: PackageRequest): AsyncGenerator<ConvertedPart> {
  return writeTask(request, markdownFiles);
}

/** The task that writes the questions of a lesson in GIFT. */
export function writeGiftTask(request: PackageRequest): AsyncGenerator<ConvertedPart> {
  return writeTask(request, giftFiles);
}

/** The task that writes the questions of a lesson in QTI. */
export function writeQtiTask(request: PackageRequest): AsyncGenerator<ConvertedPart> {
  return writeTask(request, qtiFiles);
}

async function* writeTask(
  { path, options }: PackageRequest,
  write: (pkg: LessonPackage) => WrittenFiles,
): AsyncGenerator<ConvertedPart> {
  try {
    const read = await readPackage(path, options);
    const { files, losses } = write(read);
    if (read.report !== null) yield* reportParts(read.report);
    yield { kind: 'losses', losses };
    for (const some of groupsOf(files, filesPerPart)) yield { kind: 'files', files: some };
  } catch (error) {
    if (!(error instanceof PackageError)) throw error;
    const { faults, total, isCutShort } = error;
    yield { kind: 'faults', faults, total, isCutShort };
  }
}

/** Gives a package new ids. Sections and steps keep theirs, which are unique only in their lesson. */
function withNewIds(pkg: LessonPackage): LessonPackage {
  // Other media ids refer to the organization's existing media.
  const ids = new Map(pkg.media.map(({ id }) => [id, randomUUID()]));
  const newId = (id: string) => ids.get(id) ?? id;
  const lessonId = randomUUID();
  const content = rewriteMediaReferences(pkg.content, (id) => `media:${newId(id)}`);
  return {
    ...pkg,
    lessonId,
    versionId: randomUUID(),
    versionNumber: 1,
    content: { ...content, lesson: { ...content.lesson, id: lessonId } },
    media: pkg.media.map((medium) => ({ ...medium, id: newId(medium.id) })),
  };
}

function* filesOf({ media, widgets }: Pick<PackageFiles, 'media' | 'widgets'>): Generator<PackagePart> {
  for (const some of groupsOf(media, filesPerPart)) yield { kind: 'media', media: some.map(mediumData) };
  for (const some of groupsOf(widgets, filesPerPart))
    yield { kind: 'widgets', widgets: some.map(widgetData) };
}

function* reportParts({ format, entries }: StoredReport): Generator<ReportPart> {
  // The format is part of the result also without entries.
  yield { kind: 'report', format, entries: [] };
  for (const some of groupsOf(entries, entriesPerPart)) yield { kind: 'report', format, entries: some };
}

async function* partsOf({
  content,
  media,
  widgets,
  report,
  ...rest
}: LessonPackage): AsyncGenerator<PackagePart> {
  yield* filesOf({ media, widgets });
  if (report !== null) yield* reportParts(report);
  for (const part of await contentParts(content)) yield { kind: 'content', content: part };
  // Core types of a new version are Lectern's own.
  // Others are borrowed from earlier packages: the first load of the lesson finds them, and prepares it with their credits.
  const ids = new Set(media.map(({ id }) => id));
  const borrowedMedia = mediaReferences(content).filter((id) => !ids.has(id));
  const prepared = { attributions: attributionsOf(media), externalPictures: externalPicturesOf(media) };
  if (borrowedMedia.length === 0)
    for await (const text of prepareLesson(content, [], prepared)) yield { kind: 'prepared', text };
  const lesson = {
    ...totalsOf(content),
    playabilityErrors: playabilityErrors(content).slice(0, maxPlayabilityErrors),
    picture: pictureOf(content),
    borrowedMedia,
    widgetTypes: usedWidgetTypes(content),
  };
  yield { kind: 'package', package: rest, lesson };
}

function mediumData({ file, ...medium }: PackageMedium): MediumData {
  return { ...medium, ...(file && { file: fileData(file) }) };
}

function widgetData({ js, css, ...widget }: PackageWidget): WidgetData {
  return { ...widget, js: fileData(js), ...(css && { css: fileData(css) }) };
}

function fileData({ path, size, location }: PackageFile): FileData {
  return { path, size, location };
}
