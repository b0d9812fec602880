import { LecternError } from '../../shared/platform/errors.ts';
import { playerOf } from '../../shared/exports/jobs.ts';
import type { ExportProfile } from '../../shared/exports/jobs.ts';
import { playerRelease } from '../../shared/player/player-release.ts';
import { JobOfOtherRelease } from './other-release.ts';

/** The files of a release that an archive needs, sorted; what only Lectern's own pages load stays out. */
const archived = [
  'archive-page.js',
  'callbacks.js',
  'player.classic.js',
  'player.css',
  'player.d.ts',
  'player.js',
];

/** A file of the player, by its path below the archive's top-level folder. */
export interface PlayerFile {
  path: string;
  bytes: Buffer;
}

/**
 * The player's files that archives of a profile hold, by path; null for archives without it.
 *
 * @throws {JobOfOtherRelease} when the profile names another release of the player: that of a newer or older API.
 */
export async function playerFiles(profile: ExportProfile): Promise<PlayerFile[] | null> {
  const wanted = playerOf(profile);
  if (wanted === null) return null;
  const { name, files } = await playerRelease();
  if (name !== wanted) {
    throw new JobOfOtherRelease(`This worker has the player ${name}, not ${wanted}`);
  }
  return archived.map((file) => {
    const bytes = files.get(file);
    if (bytes === undefined)
      throw new LecternError('INTERNAL_ERROR', `The player is built without ${file}. Run: npm run prepare`);
    return { path: `player/${file}`, bytes };
  });
}
