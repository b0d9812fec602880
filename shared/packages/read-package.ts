import { stat } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import type { ConversionOptions } from '../converters/converter.ts';
import type { StoredReport } from '../lessons/loss-report.ts';
import { authoringWarnings } from '../lessons/authoring.ts';
import { isCoreWidget } from '../lessons/core-widgets.ts';
import { lessonBlocks } from '../lessons/blocks.ts';
import { quote, recordOf } from '../lessons/json-values.ts';
import type { LessonContent } from '../lessons/lesson-content.ts';
import { mediaReferences, restoreMediaReferences, restoreUnusualPaths } from '../lessons/media-references.ts';
import { acceptedCharacters } from '../lessons/scoring/fill-in-the-blanks.ts';
import { shownPath } from './entry-name.ts';
import { convertBlocks } from './convert-blocks.ts';
import { convertPackage, isPackage } from './convert-package.ts';
import { openFileSource } from './file-source.ts';
import { openFolderSource } from './folder-source.ts';
import { checkLessonJson } from './lesson-json.ts';
import type { LessonPackage, PackageFiles, PackageMedium } from './lesson-package.ts';
import { MediaNames } from './media-names.ts';
import { manifestSchema, validEntries } from './manifest.ts';
import type { ManifestEntries, PackageManifest } from './manifest.ts';
import { cannotRead, FaultList, PackageError, shortened } from './package-error.ts';
import { packageMedia, unusualNames } from './package-media.ts';
import { setUses, unshownUses } from './media-uses.ts';
import { readPictureSizes, setPictureSizes } from './picture-sizes.ts';
import { linkMedia } from './url-media.ts';
import { defaultPackageLimits, type PackageLimits, type PackageSource } from './package-source.ts';
import { unknownMedia, unlistedFiles, unusedMedia } from './package-warnings.ts';
import { packageWidgets } from './package-widgets.ts';
import { readJsonFile } from './read-json.ts';
import { checkShape } from './shape-faults.ts';
import { isHttpUrl } from '../platform/parse-url.ts';
import { beginsLikeZip, openZipSource } from './zip-source.ts';

export type { LessonPackage, PackageFile, PackageMedium, PackageWidget } from './lesson-package.ts';

export interface ReadPackageOptions {
  /** The name of a ZIP archive, for messages; by default that of the file. */
  name?: string;
  /** Override the default limits. */
  limits?: Partial<PackageLimits>;
  /** Accepts references to media that the organization has and the package does not. */
  borrowsMedia?: boolean;
  /** Makes all media external, at this http or https URL, under the package's own file name. */
  mediaBaseUrl?: string;
  /** The organization that imports; the lesson ids of converted sources differ by it. */
  owner?: string;
  /** Options for sources in other formats. */
  conversion?: Partial<ConversionOptions>;
}

/** A learner may answer all gaps in one write, which then takes 0.25 s. */
const maxAcceptedCharacters = 100_000;
/** Every check of the lesson reads the fields of its custom widgets. */
const maxFieldsCharacters = 500_000;
/** Exports read a manifest at once, which takes 60 ms with so many. */
const maxManifestEntries = 20_000;

/**
 * Opens a lesson package, or a source in another format, and checks it. The files of media and widgets are checked only
 * when they are read.
 *
 * @throws {PackageError} with every fault of lesson.json and manifest.json
 */
export async function readPackage(path: string, options: ReadPackageOptions = {}): Promise<LessonPackage> {
  const { mediaBaseUrl, borrowsMedia = false } = options;
  if (mediaBaseUrl !== undefined) checkBaseUrl(mediaBaseUrl);
  const { source, report } = await openAnyFormat(path, options);
  const faults = new FaultList();
  const losses: string[] = [];
  const { manifest, entries } = await readManifest(source, faults, losses);
  const lesson = await readLesson(source, entries.lessonId, faults, losses);
  const media = packageMedia(entries, source, mediaBaseUrl, faults);
  const { widgets, externalWidgets } = packageWidgets(entries, source, faults);
  const read = { source, manifest, lesson, media, losses, borrowsMedia };
  try {
    return { ...(await connect(read, faults)), widgets, externalWidgets, report };
  } catch (error) {
    throw error instanceof PackageError ? new FaultyPackageError({ media, widgets }, error) : error;
  }
}

/** Reports a package whose files could be found in spite of its faults. Theirs are not among the faults. */
export class FaultyPackageError extends PackageError {
  readonly files: Pick<PackageFiles, 'media' | 'widgets'>;

  constructor(files: FaultyPackageError['files'], error: PackageError) {
    super(error.faults, { total: error.total, isCutShort: error.isCutShort, cause: error.cause });
    this.files = files;
  }
}

/** The parts of a package, before they are connected. */
interface ReadParts {
  source: PackageSource;
  /** Undefined with faults, like the lesson. */
  manifest: PackageManifest | undefined;
  lesson: ReturnType<typeof checkLessonJson>;
  media: PackageMedium[];
  losses: string[];
  borrowsMedia: boolean;
}

/** @throws {PackageError} with the faults so far, and those of references */
async function connect(
  { source, manifest, lesson, media, losses, borrowsMedia }: ReadParts,
  faults: FaultList,
): Promise<Omit<LessonPackage, 'widgets' | 'externalWidgets' | 'report'>> {
  if (manifest === undefined || lesson === undefined) {
    faults.throwIfAny();
    throw new Error('Unreachable: a missing part is a fault');
  }
  publishFields(lesson.content, manifest, faults);
  const names = new MediaNames(manifest, media);
  const sizes = await readPictureSizes(media);
  const referenceWarnings = linkMedia(lesson.content, { media, names, sizes }, faults);
  faults.throwIfAny();
  const extensions = new Map(media.map(({ id, extension }) => [id, extension]));
  const written = restoreUnusualPaths(lesson.content, unusualNames(manifest));
  const content: LessonContent = restoreMediaReferences(written, (id) => extensions.get(id));
  setUses(content, media);
  setPictureSizes(content, sizes);
  const conversionWarnings = convertBlocks(content);
  const referred = Math.max(media.length, mediaReferences(content).length);
  if (referred > maxManifestEntries) {
    faults.add('lesson.json', `refers to ${referred} media files; at most ${maxManifestEntries} are allowed`);
  }
  const accepted = [...lessonBlocks(content)]
    .filter(({ block }) => block.type === 'FillInTheBlanks')
    .reduce((sum, { block }) => sum + acceptedCharacters(block.props), 0);
  if (accepted > maxAcceptedCharacters) {
    faults.add(
      'lesson.json',
      `the accepted answers of its gaps have ${accepted} characters; at most ${maxAcceptedCharacters} are allowed`,
    );
  }
  faults.throwIfAny();
  const { id: lessonId, slug, title } = content.lesson;
  const { versionId, versionNumber } = manifest;
  const warnings = [
    ...losses,
    ...unlistedFiles(manifest, source),
    ...(borrowsMedia ? [] : unknownMedia(content, manifest, media)),
    ...unusedMedia(content, manifest, media),
    ...referenceWarnings,
    ...media.flatMap((medium) =>
      medium.sourceUrl === undefined ? [] : unshownUses(medium, { ...medium, name: quote(medium.sourceUrl) }),
    ),
    ...conversionWarnings,
    ...lesson.warnings,
    ...authoringWarnings(content).map(({ message }) => `lesson.json: ${message}`),
  ];
  return {
    ...{ lessonId, versionId, versionNumber, slug, title, content, media },
    warnings: shortened(warnings),
  };
}

/** Copies the fields of custom widgets into the lesson, whose versions, drafts and archives keep them. */
function publishFields({ lesson }: LessonContent, { files }: PackageManifest, faults: FaultList): void {
  const published = files.widgets.flatMap(({ widgetType, fields }) =>
    fields === undefined || isCoreWidget(widgetType) ? [] : [[widgetType, fields] as const],
  );
  if (published.length === 0) return;
  const settings = lesson.widget_settings;
  settings.fields = { ...settings.fields, ...Object.fromEntries(published) };
  const { length } = JSON.stringify(settings.fields);
  if (length <= maxFieldsCharacters) return;
  const fault = `the fields of all widgets have ${length} characters of JSON; at most ${maxFieldsCharacters} are allowed`;
  faults.add('manifest.json: files.widgets', fault);
}

async function readManifest(
  source: PackageSource,
  faults: FaultList,
  losses: string[],
): Promise<{ manifest?: PackageManifest | undefined; entries: ManifestEntries }> {
  const value = await readJsonFile(source, 'manifest.json', faults, losses);
  if (value === undefined || hasTooLongLists(value, faults)) return { entries: validEntries({}) };
  const manifest = checkShape(manifestSchema, value, 'manifest.json', '', faults);
  const lessonPath = manifest?.files.lesson?.replace(/^\.\//, '') ?? 'lesson.json';
  if (lessonPath !== 'lesson.json') faults.add('manifest.json: files.lesson', 'must be ./lesson.json');
  return { manifest, entries: manifest ?? validEntries(value) };
}

/** Checks the lengths of lists before their entries, because each of millions of wrong entries would be a fault. */
function hasTooLongLists(value: unknown, faults: FaultList): boolean {
  const { files, failedMedia, failedWidgets, attributions } = recordOf(value);
  const { media, widgets } = recordOf(files);
  const lists = { 'files.media': media, 'files.widgets': widgets, failedMedia, failedWidgets, attributions };
  const before = faults.total;
  for (const [path, list] of Object.entries(lists)) {
    if (!Array.isArray(list) || list.length <= maxManifestEntries) continue;
    faults.add(
      `manifest.json: ${path}`,
      `has ${list.length} entries; at most ${maxManifestEntries} are allowed`,
    );
  }
  return faults.total > before;
}

async function readLesson(
  source: PackageSource,
  lessonId: string | undefined,
  faults: FaultList,
  losses: string[],
): Promise<ReturnType<typeof checkLessonJson>> {
  const value = await readJsonFile(source, 'lesson.json', faults, losses);
  return value === undefined ? undefined : checkLessonJson(value, faults, lessonId);
}

function checkBaseUrl(url: string): void {
  if (isHttpUrl(url)) return;
  throw new PackageError([`${shownPath(url)}: the base of the media must be an http or https URL`]);
}

/**
 * Opens a lesson package, or makes one of files in another format.
 *
 * @returns the files of the package, and the report of a conversion; null without one
 * @throws {PackageError}
 */
export async function openAnyFormat(
  path: string,
  { name, limits, owner, conversion }: ReadPackageOptions,
): Promise<{ source: PackageSource; report: StoredReport | null }> {
  const source = await openPackageSource(path, { ...defaultPackageLimits, ...limits }, name);
  if (isPackage(source)) return { source, report: null };
  return convertPackage(source, {
    ...{ name: name ?? basename(resolve(path)), owner: owner ?? null },
    ...(conversion !== undefined && { conversion }),
  });
}

/**
 * Opens a folder, a ZIP archive, or any other file, and checks everything except the contents of its files.
 *
 * @param path may be a symbolic link, because a person chose it
 * @throws {PackageError}
 */
export async function openPackageSource(
  path: string,
  limits: PackageLimits = defaultPackageLimits,
  name?: string,
): Promise<PackageSource> {
  const stats = await stat(path).catch((error: unknown) => cannotRead(path, error));
  if (stats.isDirectory()) return openFolderSource(path, limits);
  if (!stats.isFile()) throw new PackageError([`${shownPath(path)}: is neither a folder nor a file`]);
  if (await beginsLikeZip(path)) return openZipSource(path, limits, name);
  return openFileSource(path, limits, name);
}
