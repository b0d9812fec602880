import { pathsInPage } from '../describe-page.ts';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { optionsOfQuery } from '../../../shared/exports/package-query.ts';
import type { StateSize } from '../../../shared/lms/worst-case.ts';
import type { LessonVersion } from '../../../shared/models/lesson-version.ts';
import type { ExportManifest } from '../../../shared/packages/manifest.ts';
import { LecternError } from '../../../shared/platform/errors.ts';
import { packageRoot } from '../../../shared/platform/paths.ts';
import { digestOfChunks } from '../../../shared/storage/digest.ts';
import { isFailure } from '../file-outcomes.ts';
import { fileInMemory, jsonFile } from '../generated-files.ts';
import type { GeneratedFile } from '../generated-files.ts';
import { cmi5Structure } from './cmi5-structure.ts';
import { scorm12Manifest, scorm2004Manifest } from './ims-manifest.ts';
import type { PackageContents } from './ims-manifest.ts';
import type { ArchiveTheme } from './archive-theme.ts';
import { describeFile, indexFile, onDemandFiles, playerFiles } from './page-files.ts';
import { plainArchive } from './plain.ts';
import type { ArchiveProfile } from './profile.ts';

interface PackageFormat {
  /** The name of the standard. */
  name: string;
  manifestFile: string;
  manifest: (contents: PackageContents) => Generator<string>;
  /** The limit of a learner's state in the platform. */
  maxStateCharacters: number;
  /** The script of the page. */
  page: string;
  /** The sources of its server, which only the launch names. */
  connect?: string;
  hasSchemas: boolean;
}

const scorm = { manifestFile: 'imsmanifest.xml', page: 'scorm-page.js', hasSchemas: true };

const formats = {
  // The standard guarantees 4,096; some platforms count differently.
  scorm12: { ...scorm, name: 'SCORM 1.2', manifest: scorm12Manifest, maxStateCharacters: 4_000 },
  scorm2004: { ...scorm, name: 'SCORM 2004', manifest: scorm2004Manifest, maxStateCharacters: 64_000 },
  cmi5: {
    ...{ name: 'cmi5', manifestFile: 'cmi5.xml', manifest: cmi5Structure, hasSchemas: false },
    ...{ page: 'cmi5-page.js', connect: ' https: http:' },
    // A page that is closed can send 64 KiB.
    maxStateCharacters: 40_000,
  },
} satisfies Record<string, PackageFormat>;

/**
 * Returns the profile of a package: the lesson with a page that plays it in a learning platform, the manifest of the
 * format, and its schemas.
 *
 * @param variant as `packageVariant` in shared/exports/profiles.ts returns it.
 * @param optionsQuery the options, as a query.
 * @param theme of the page; null for Lectern's own look.
 */
export async function lmsPackage(
  format: keyof typeof formats,
  { variant, options: optionsQuery }: { variant: string | null; options: string },
  theme: ArchiveTheme | null,
): Promise<ArchiveProfile> {
  const {
    name,
    manifestFile,
    manifest: manifestTexts,
    maxStateCharacters,
    page,
    connect,
    hasSchemas,
  }: PackageFormat = formats[format];
  const options = optionsOfQuery(optionsQuery);
  const [, playerName = null, publicUrl = ''] = variant?.split(';') ?? [];
  const scripts = ['player.classic.js', page];
  const player = await playerFiles(playerName, [...scripts, ...onDemandFiles, 'player.css'].sort());
  const schemas = hasSchemas ? await schemaFiles(format) : [];
  const generated = [...player, ...(theme?.files ?? []), ...schemas];
  // `extraFiles` runs before `manifests`.
  let known: { version: LessonVersion; language: string; stateSize: StateSize } | undefined;
  return {
    ...plainArchive,
    ...{ withPage: true, maxStateCharacters },
    folders: [],
    knownBytes: generated.reduce((sum, { digest }) => sum + digest.size, 0),
    fileCount: plainArchive.fileCount + generated.length + 2,
    rereadPaths: pathsInPage,
    async extraFiles(parts) {
      const { language, stateSize } = parts.texts;
      if (stateSize === null) throw new Error('Unreachable: the profile has a limit');
      checkStateSize(stateSize, name);
      known = { version: parts.version, language: language ?? 'en', stateSize };
      const settings = { format, options, maxStateCharacters };
      return [...generated, await indexFile(parts, { scripts, theme, settings, connect }), parts.lesson];
    },
    async manifests(manifest, outcomes) {
      if (known === undefined) throw new Error('The files of the package are not known yet');
      const { version, language, stateSize } = known;
      // Sorted, because files finish in a different order in each build.
      const written = [...outcomes].flatMap(([path, outcome]) => (isFailure(outcome) ? [] : path)).sort();
      const paths = ['index.html', ...written.filter((path) => path !== 'index.html'), 'manifest.json'];
      const contents = { version, options, paths, language, publicUrl };
      const ims = await xmlFile(manifestFile, () => manifestTexts(contents));
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
function checkStateSize({ leastCharacters, maxCharacters }: StateSize, standard: string): void {
  if (leastCharacters <= maxCharacters) return;
  const message = `The lesson has too many steps and questions for ${standard}: a learner's points would take ${leastCharacters} characters, and the limit is ${maxCharacters}.`;
  throw new LecternError('INVALID_CONTENT', message);
}

async function schemaFiles(format: string): Promise<GeneratedFile[]> {
  const folder = join(packageRoot, 'worker', 'exports', 'schemas', format);
  const names = (await readdir(folder)).sort();
  return Promise.all(names.map(async (name) => fileInMemory(name, await readFile(join(folder, name)))));
}

async function xmlFile(path: string, texts: () => Generator<string>): Promise<GeneratedFile> {
  // oxlint-disable-next-line typescript/require-await -- files are read as async iterables
  async function* chunks(): AsyncGenerator<Uint8Array> {
    for (const text of texts()) yield Buffer.from(text);
  }
  return { path, digest: await digestOfChunks(chunks()), chunks };
}
