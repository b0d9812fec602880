import { createHash } from 'node:crypto';
import type { ConvertedLesson } from '../converters/converted-lesson.ts';
import type { ConversionOptions, Converter } from '../converters/converter.ts';
import { defaultOptions } from '../converters/converter.ts';
import { findConverter, formatNames } from '../converters/formats.ts';
import { ConvertedMedia } from '../converters/media.ts';
import type { ConvertedMedium } from '../converters/media.ts';
import { ConversionReport } from '../converters/report.ts';
import type { ReportEntry, StoredReport } from '../lessons/loss-report.ts';
import { Source, SourceFault } from '../converters/source.ts';
import { lessonBlocks } from '../lessons/blocks.ts';
import type { LessonContent } from '../lessons/lesson-content.ts';
import { rewriteMediaReferences } from '../lessons/media-references.ts';
import { uuidV5 } from '../platform/uuid.ts';
import type { FileLocation } from './file-location.ts';
import { withGeneratedIds } from './generated-ids.ts';
import { sourceOf } from './listing.ts';
import { formatVersion } from './manifest.ts';
import { FaultList, PackageError } from './package-error.ts';
import type { PackageSource } from './package-source.ts';

export interface ConvertPackageOptions {
  /** The name of the file or folder, for messages and titles. */
  name: string;
  /** The organization, or null: the same source is another lesson in another organization. */
  owner: string | null;
  conversion?: Partial<ConversionOptions>;
}

/** A package that was made of files in another format. */
export interface ConvertedPackage {
  source: PackageSource;
  report: StoredReport;
}

/** The namespace of the ids of converted lessons. */
const namespace = 'a3a1c7a0-62a5-4f5a-8f6d-0d8c33a9a5c1';

/** Returns whether a source is a lesson package. */
export function isPackage(source: PackageSource): boolean {
  return source.find('lesson.json') !== undefined || source.find('manifest.json') !== undefined;
}

/**
 * Makes a package of files in any other format that Lectern reads. The media stay where they are: the package refers to
 * them.
 *
 * @throws {PackageError} for files in no known format, or with every fault that the converter finds
 */
export async function convertPackage(
  files: PackageSource,
  { name, owner, conversion }: ConvertPackageOptions,
): Promise<ConvertedPackage> {
  const source = new Source(name, files.files, (path) => files.open(path));
  try {
    const converter = await findConverter(source);
    if (converter === null) throw new PackageError([`${name}: ${unknownFormat}`]);
    return await convertWith(converter, source, files, { owner, conversion });
  } catch (error) {
    if (error instanceof SourceFault) throw new PackageError(error.faults, { cause: error });
    throw error;
  }
}

const unknownFormat =
  'is neither a lesson package, with lesson.json and manifest.json at the top or in the only folder there, nor in ' +
  `another format that Lectern reads: ${formatNames}`;

async function convertWith(
  converter: Converter,
  source: Source,
  files: PackageSource,
  { owner, conversion }: { owner: string | null; conversion: Partial<ConversionOptions> | undefined },
): Promise<ConvertedPackage> {
  const media = new ConvertedMedia(source);
  const report = new ConversionReport();
  const faults = new FaultList();
  const options = { ...defaultOptions, ...conversion };
  const converted = await converter.convert(source, { media, report, faults, options });
  faults.throwIfAny();
  const content = contentOf(converted);
  const whole = converted.identity ?? (await digestOfFiles(files));
  const identity = converted.part === undefined ? whole : `${whole}\n${converted.part}`;
  const lessonId = converted.lessonId ?? uuidV5(namespace, `${owner ?? ''}\n${converter.id}\n${identity}`);
  const ids = new Map(media.all.map((medium) => [medium.id, uuidV5(lessonId, medium.path)]));
  const placed = media.all.map((medium) => withId(medium, ids.get(medium.id) ?? medium.id));
  const rewritten = rewriteMediaReferences(content, (id) => `media:${ids.get(id) ?? id}`);
  const json = { ...rewritten, lesson: { ...rewritten.lesson, id: lessonId } };
  const versionId = uuidV5(lessonId, digestOf(JSON.stringify(json)));
  const manifest = manifestOf({ lessonId, versionId, title: converted.lesson.title }, placed);
  return {
    source: packageOf(json, manifest, placed, files),
    report: { format: converter.id, entries: entriesOf(report, content) },
  };
}

/** Returns the lesson with ids, which the report names. */
function contentOf({ lesson, sections }: ConvertedLesson): LessonContent {
  const content = {
    lesson,
    sections: sections.map((section) => ({
      ...section,
      steps: section.steps.map(({ blocks, ...step }) => ({
        ...step,
        content: { content: blocks, root: {} },
      })),
    })),
  };
  // It lacks what an import adds.
  return withGeneratedIds(content as unknown as LessonContent);
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** Returns a digest of the files of a source. Archives have checksums; other files are read. */
async function digestOfFiles(files: PackageSource): Promise<string> {
  const hash = createHash('sha256');
  for (const { path, size } of files.files) {
    hash.update(`${path}\0${size}\0`);
    const location = files.locate(path);
    if (location !== undefined && location.archive !== null) hash.update(String(location.file.crc32));
    else for await (const chunk of await files.open(path)) hash.update(chunk as Buffer);
  }
  return hash.digest('hex');
}

function withId(medium: ConvertedMedium, id: string): ConvertedMedium {
  return { ...medium, id, path: medium.path.replace(medium.id, id) };
}

function manifestOf(
  { lessonId, versionId, title }: { lessonId: string; versionId: string; title: string },
  media: readonly ConvertedMedium[],
): object {
  return {
    ...{ lessonId, title, versionNumber: 1, versionId, formatVersion },
    files: { media: media.map(({ id, path, mimeType }) => ({ id, localPath: `./${path}`, mimeType })) },
    attributions: media.flatMap(({ id, attributions }) =>
      attributions.map((attribution) => ({ mediaId: id, ...attribution })),
    ),
  };
}

function packageOf(
  lesson: object,
  manifest: object,
  media: readonly ConvertedMedium[],
  files: PackageSource,
): PackageSource {
  const locations = new Map<string, FileLocation>([
    made('lesson.json', Buffer.from(JSON.stringify(lesson))),
    made('manifest.json', Buffer.from(JSON.stringify(manifest))),
    ...media.map(({ path, origin }): [string, FileLocation] => {
      if ('bytes' in origin) return made(path, origin.bytes);
      const location = files.locate(origin.path);
      if (location === undefined) throw new Error(`The converter names a missing file, ${origin.path}`);
      return [path, location];
    }),
  ]);
  const listing = new Map(
    [...locations].map(([path, { file }]) => [path, { path, size: file.size }] as const),
  );
  return sourceOf(listing, ({ path }) => {
    const location = locations.get(path);
    if (location === undefined) throw new Error(`Unreachable: ${path} is listed`);
    return location;
  });
}

function made(path: string, bytes: Uint8Array): [string, FileLocation] {
  return [path, { archive: null, file: { path, size: bytes.length }, bytes }];
}

/** Returns the report with the ids of steps and blocks. Blocks are the converter's own objects. */
function entriesOf(report: ConversionReport, content: LessonContent): ReportEntry[] {
  const places = new Map<unknown, { stepId: string; blockId: string }>();
  for (const { step, block } of lessonBlocks(content)) {
    places.set(block, { stepId: step.id, blockId: block.props.id });
  }
  return report.entries.map(({ block, ...entry }) => {
    const place = block === null ? undefined : places.get(block);
    return { ...entry, stepId: place?.stepId ?? null, blockId: place?.blockId ?? null };
  });
}
