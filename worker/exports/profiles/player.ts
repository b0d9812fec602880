import { json } from 'node:stream/consumers';
import type { LessonContent } from '../../../shared/lessons/lesson-content.ts';
import type { ExportManifest } from '../../../shared/packages/manifest.ts';
import { LecternError } from '../../../shared/platform/errors.ts';
import { playerRelease } from '../../../shared/player/player-release.ts';
import { digestOfChunks } from '../../../shared/storage/digest.ts';
import { describePage, pathsInPage } from '../describe-page.ts';
import { indexPage } from '../index-page.ts';
import { isFailure } from '../file-outcomes.ts';
import type { Outcomes } from '../file-outcomes.ts';
import { fileInMemory, jsonFile } from '../generated-files.ts';
import type { GeneratedFile } from '../generated-files.ts';
import { plainArchive } from './plain.ts';
import { JobOfOtherRelease } from './profile.ts';
import type { ArchiveParts, ArchiveProfile } from './profile.ts';

/** The files of a player release that archives contain, sorted. Lectern's pages load some further files. */
const archivedFiles = [
  'archive-page.js',
  'callbacks.js',
  'player.classic.js',
  'player.css',
  'player.d.ts',
  'player.js',
];

/**
 * Returns the profile of archives that also hold the player: player/, and index.html, which plays the lesson.
 *
 * @param variant the name of the player's release.
 * @throws {JobOfOtherRelease} for the player release of a newer or older API.
 */
export async function playerArchive(variant: string | null): Promise<ArchiveProfile> {
  const { name, files } = await playerRelease();
  if (name !== variant) throw new JobOfOtherRelease(`This worker has the player ${name}, not ${variant}`);
  const player = archivedFiles.map((file) => {
    const bytes = files.get(file);
    if (bytes === undefined)
      throw new LecternError('INTERNAL_ERROR', `The player is built without ${file}. Run: npm run prepare`);
    return fileInMemory(`player/${file}`, bytes);
  });
  const playerPaths = ['index.html', ...player.map(({ path }) => path)];
  return {
    ...plainArchive,
    knownBytes: player.reduce((sum, { digest }) => sum + digest.size, 0),
    fileCount: plainArchive.fileCount + playerPaths.length,
    rereadPaths: pathsInPage,
    extraFiles: async (parts) => [...player, await indexFile(parts), parts.lesson],
    manifests: async (manifest, outcomes) => {
      const listed = playerPaths.flatMap((path) => describeFile(path, outcomes));
      return [await jsonFile('manifest.json', { ...manifest, files: { ...manifest.files, player: listed } })];
    },
  };
}

async function indexFile({ store, version, plan, lesson, files }: ArchiveParts): Promise<GeneratedFile> {
  const content = (await json(lesson.chunks())) as LessonContent;
  const described = await describePage(store, { version, plan, lesson: content, files });
  const chunks = () => indexPage(described);
  const index = { path: 'index.html', digest: await digestOfChunks(chunks()), chunks };
  files.reserve(index.digest.size);
  return index;
}

function describeFile(path: string, outcomes: Outcomes): NonNullable<ExportManifest['files']['player']> {
  const outcome = outcomes.get(path);
  if (outcome === undefined || isFailure(outcome)) return [];
  return [{ localPath: `./${path}`, size: outcome.size, sha256: outcome.sha256 }];
}
