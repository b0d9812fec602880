import type { ExportJob } from '../../../shared/exports/jobs.ts';
import type { Store } from '../../../shared/storage/store.ts';
import { openTheme } from './archive-theme.ts';
import type { ArchiveTheme } from './archive-theme.ts';
import { parseProfile } from '../../../shared/exports/profiles.ts';
import type { NamedProfile, ProfileId } from '../../../shared/exports/profiles.ts';
import { cartridgeArchive } from './cartridge.ts';
import { lmsPackage } from './package.ts';
import { plainArchive } from './plain.ts';
import { playerArchive } from './player.ts';
import { JobOfOtherRelease } from './profile.ts';

import type { ArchiveProfile } from './profile.ts';

const archiveProfiles: Record<
  ProfileId,
  (profile: NamedProfile, theme: ArchiveTheme | null) => ArchiveProfile | Promise<ArchiveProfile>
> = {
  plain: () => plainArchive,
  player: ({ variant }, theme) => playerArchive(variant, theme),
  scorm12: (profile, theme) => lmsPackage('scorm12', profile, theme),
  scorm2004: (profile, theme) => lmsPackage('scorm2004', profile, theme),
  cmi5: (profile, theme) => lmsPackage('cmi5', profile, theme),
  cartridge: (profile) => cartridgeArchive(profile),
};

/** @throws {JobOfOtherRelease} for a job whose profile this release lacks. */
export function checkProfile({ profile }: ExportJob): void {
  if (parseProfile(profile).id === null) {
    throw new JobOfOtherRelease(`This worker has no export profile ${profile}`);
  }
}

/**
 * Returns the profile of a job.
 *
 * @throws {JobOfOtherRelease} for a profile or variant that only another release has.
 */
export async function openProfile(job: ExportJob, store: Pick<Store, 'assets'>): Promise<ArchiveProfile> {
  checkProfile(job);
  const profile = parseProfile(job.profile);
  const theme = job.theme === undefined ? null : await openTheme(store, job.theme);
  return archiveProfiles[profile.id as ProfileId](profile, theme);
}
