import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { optionsOfQuery } from '../../../shared/exports/package-query.ts';
import { lessonMapOf } from '../../../shared/lms/lesson-map.ts';
import { stateSizeOf } from '../../../shared/lms/worst-case.ts';
import type { StateSize } from '../../../shared/lms/worst-case.ts';
import type { LessonContent } from '../../../shared/lessons/lesson-content.ts';
import type { LessonVersion } from '../../../shared/models/lesson-version.ts';
import type { ExportManifest } from '../../../shared/packages/manifest.ts';
import { LecternError } from '../../../shared/platform/errors.ts';
import { packageRoot } from '../../../shared/platform/paths.ts';
import { digestOfChunks } from '../../../shared/storage/digest.ts';
import { pathsInPage } from '../describe-page.ts';
import { isFailure } from '../file-outcomes.ts';
import { fileInMemory, jsonFile } from '../generated-files.ts';
import type { GeneratedFile } from '../generated-files.ts';
import { scorm12Manifest, scorm2004Manifest } from './ims-manifest.ts';
import { contentOf, describeFile, indexFile, playerFiles } from './page-files.ts';
import { plainArchive } from './plain.ts';
import type { ArchiveProfile } from './profile.ts';

/** Without player.js and its types: the package's own page is its only user. */
const archivedFiles = ['player.classic.js', 'player.css', 'scorm-page.js'];
const scripts = ['player.classic.js', 'scorm-page.js'];

const formats = {
  scorm12: {
    name: 'SCORM 1.2',
    manifest: scorm12Manifest,
    /** The standard guarantees 4,096; some platforms count differently. */
    maxStateCharacters: 4_000,
  },
  scorm2004: { name: 'SCORM 2004', manifest: scorm2004Manifest, maxStateCharacters: 64_000 },
};

/**
 * Returns the profile of a SCORM package: the lesson with a page that plays it in a learning platform, imsmanifest.xml
 * and its schemas.
 *
 * @param variant as `packageVariant` in shared/exports/profiles.ts returns it.
 * @param optionsQuery the options, as a query.
 */
export async function scormPackage(
  format: keyof typeof formats,
  { variant, options: optionsQuery }: { variant: string | null; options: string },
): Promise<ArchiveProfile> {
  const { name, manifest: manifestTexts, maxStateCharacters } = formats[format];
  const options = optionsOfQuery(optionsQuery);
  const player = await playerFiles(playerNameOf(variant), archivedFiles);
  const schemas = await schemaFiles(format);
  const generated = [...player, ...schemas];
  // `extraFiles` runs before `manifests`.
  let known: { version: LessonVersion; stateSize: StateSize } | undefined;
  return {
    ...plainArchive,
    folders: [],
    knownBytes: generated.reduce((sum, { digest }) => sum + digest.size, 0),
    fileCount: plainArchive.fileCount + generated.length + 2,
    rereadPaths: pathsInPage,
    async extraFiles(parts) {
      const content = await contentOf(parts);
      known = { version: parts.version, stateSize: checkedStateSize(content, name, maxStateCharacters) };
      const settings = { format, options, maxStateCharacters };
      return [...generated, await indexFile(parts, content, { scripts, settings }), parts.lesson];
    },
    async manifests(manifest, outcomes) {
      if (known === undefined) throw new Error('The files of the package are not known yet');
      const { version, stateSize } = known;
      const written = [...outcomes].flatMap(([path, outcome]) => (isFailure(outcome) ? [] : path));
      const paths = ['index.html', ...written.filter((path) => path !== 'index.html'), 'manifest.json'];
      const ims = await xmlFile('imsmanifest.xml', () => manifestTexts({ version, options, paths }));
      const listed = ['index.html', ...generated.map(({ path }) => path)].flatMap((path) =>
        describeFile(path, outcomes),
      );
      const { size, sha256 } = ims.digest;
      const files = {
        ...manifest.files,
        player: [...listed, { localPath: `./${ims.path}`, size, sha256 }],
      };
      const described: ExportManifest = { ...manifest, files, package: { format, options, stateSize } };
      return [ims, await jsonFile('manifest.json', described)];
    },
  };
}

/** @throws {LecternError} INVALID_CONTENT if positions and points of the lesson do not fit into a platform. */
function checkedStateSize(content: LessonContent, standard: string, maxCharacters: number): StateSize {
  const size = stateSizeOf(lessonMapOf(content), maxCharacters);
  if (size.leastCharacters <= maxCharacters) return size;
  const message = `The lesson has too many steps and questions for ${standard}: a learner's points would take ${size.leastCharacters} characters, and the limit is ${maxCharacters}.`;
  throw new LecternError('INVALID_CONTENT', message);
}

function playerNameOf(variant: string | null): string | null {
  return variant?.split(';')[1] ?? null;
}

async function schemaFiles(format: string): Promise<GeneratedFile[]> {
  const folder = join(packageRoot, 'worker', 'exports', 'schemas', format);
  const names = (await readdir(folder)).sort();
  return Promise.all(names.map(async (name) => fileInMemory(name, await readFile(join(folder, name)))));
}

async function xmlFile(path: string, texts: () => Generator<string>): Promise<GeneratedFile> {
  // eslint-disable-next-line @typescript-eslint/require-await -- files are read as async iterables
  async function* chunks(): AsyncGenerator<Uint8Array> {
    for (const text of texts()) yield Buffer.from(text);
  }
  return { path, digest: await digestOfChunks(chunks()), chunks };
}
