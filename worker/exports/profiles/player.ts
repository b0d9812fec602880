import { pathsInPage } from '../describe-page.ts';
import { jsonFile } from '../generated-files.ts';
import type { ArchiveTheme } from './archive-theme.ts';
import { describeFile, indexFile, onDemandFiles, playerFiles } from './page-files.ts';
import { plainArchive } from './plain.ts';
import type { ArchiveProfile } from './profile.ts';

/** The files of a player release that archives contain, sorted. Lectern's pages load some further files. */
const archivedFiles = [
  'archive-page.js',
  'callbacks.js',
  'player.classic.js',
  'player.css',
  'player.d.ts',
  'player.js',
  ...onDemandFiles,
].sort();

const scripts = ['callbacks.js', 'player.classic.js', 'archive-page.js'];

/**
 * Returns the profile of archives that also hold the player: player/, and index.html, which plays the lesson.
 *
 * @param variant the name of the player's release.
 * @param theme of the page; null for Lectern's own look.
 * @throws {JobOfOtherRelease} for the player release of a newer or older API.
 */
export async function playerArchive(
  variant: string | null,
  theme: ArchiveTheme | null,
): Promise<ArchiveProfile> {
  const player = [...(await playerFiles(variant, archivedFiles)), ...(theme?.files ?? [])];
  const playerPaths = ['index.html', ...player.map(({ path }) => path)];
  return {
    ...plainArchive,
    withPage: true,
    knownBytes: player.reduce((sum, { digest }) => sum + digest.size, 0),
    fileCount: plainArchive.fileCount + playerPaths.length,
    rereadPaths: pathsInPage,
    extraFiles: async (parts) => [...player, await indexFile(parts, { scripts, theme }), parts.lesson],
    manifests: async (manifest, outcomes) => {
      const listed = playerPaths.flatMap((path) => describeFile(path, outcomes));
      return [await jsonFile('manifest.json', { ...manifest, files: { ...manifest.files, player: listed } })];
    },
  };
}
