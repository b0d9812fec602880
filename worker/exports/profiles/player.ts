import { json } from 'node:stream/consumers';
import type { LessonContent } from '../../../shared/lessons/lesson-content.ts';
import type { ExportManifest } from '../../../shared/packages/manifest.ts';
import { LecternError } from '../../../shared/platform/errors.ts';
import { playerRelease } from '../../../shared/player/player-release.ts';
import { digestOfChunks } from '../../../shared/storage/digest.ts';
import { describePage, readAgain } from '../describe-page.ts';
import { indexPage } from '../index-page.ts';
import { isMissing } from '../outcome.ts';
import type { Outcomes } from '../outcome.ts';
import { fileInMemory, jsonFile } from '../own-files.ts';
import type { OwnFile } from '../own-files.ts';
import { plainArchive } from './plain.ts';
import { JobOfOtherRelease } from './profile.ts';
import type { ArchiveParts, ArchiveProfile } from './profile.ts';

/** The files of a release that an archive needs, sorted; what only Lectern's own pages load stays out. */
const archived = [
  'archive-page.js',
  'callbacks.js',
  'player.classic.js',
  'player.css',
  'player.d.ts',
  'player.js',
];

/**
 * The lesson with the player: also player/ and index.html, which plays the lesson when it is opened.
 *
 * @param variant the name of the player's release.
 * @throws {JobOfOtherRelease} for another release than this worker's: that of a newer or older API.
 */
export async function playerArchive(variant: string | null): Promise<ArchiveProfile> {
  const { name, files } = await playerRelease();
  if (name !== variant) throw new JobOfOtherRelease(`This worker has the player ${name}, not ${variant}`);
  const player = archived.map((file) => {
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
    readsAgain: readAgain,
    extraFiles: async (parts) => [...player, await indexFile(parts), parts.lesson],
    manifests: async (manifest, outcomes) => {
      const listed = playerPaths.flatMap((path) => describeFile(path, outcomes));
      return [await jsonFile('manifest.json', { ...manifest, files: { ...manifest.files, player: listed } })];
    },
  };
}

async function indexFile({ store, version, plan, lesson, search }: ArchiveParts): Promise<OwnFile> {
  const content = (await json(lesson.chunks())) as LessonContent;
  const described = await describePage(store, { version, plan, lesson: content, search });
  const chunks = () => indexPage(described);
  const index = { path: 'index.html', digest: await digestOfChunks(chunks()), chunks };
  search.reserve(index.digest.size);
  return index;
}

function describeFile(path: string, outcomes: Outcomes): NonNullable<ExportManifest['files']['player']> {
  const outcome = outcomes.get(path);
  if (outcome === undefined || isMissing(outcome)) return [];
  return [{ localPath: `./${path}`, size: outcome.size, sha256: outcome.sha256 }];
}
