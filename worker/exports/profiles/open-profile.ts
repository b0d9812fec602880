import { archiveFormatName } from '../../../shared/exports/jobs.ts';
import type { ExportJob } from '../../../shared/exports/jobs.ts';
import { parseProfile } from '../../../shared/exports/profiles.ts';
import type { NamedProfile, ProfileId } from '../../../shared/exports/profiles.ts';
import { lmsPackage } from './package.ts';
import { plainArchive } from './plain.ts';
import { playerArchive } from './player.ts';
import { JobOfOtherRelease } from './profile.ts';

import type { ArchiveProfile } from './profile.ts';

const archiveProfiles: Record<
  ProfileId,
  (profile: NamedProfile) => ArchiveProfile | Promise<ArchiveProfile>
> = {
  plain: () => plainArchive,
  player: ({ variant }) => playerArchive(variant),
  scorm12: (profile) => lmsPackage('scorm12', profile),
  scorm2004: (profile) => lmsPackage('scorm2004', profile),
  cmi5: (profile) => lmsPackage('cmi5', profile),
};

/** @throws {JobOfOtherRelease} for a job whose archive this release would write differently, or not at all. */
export function checkFormat({ format, profile }: ExportJob): void {
  if (format !== archiveFormatName) {
    throw new JobOfOtherRelease(`This worker writes archives of format ${archiveFormatName}, not ${format}`);
  }
  if (parseProfile(profile).id === null) {
    throw new JobOfOtherRelease(`This worker has no export profile ${profile}`);
  }
}

/**
 * Returns the profile of a job.
 *
 * @throws {JobOfOtherRelease} for a profile or variant that only another release has.
 */
export async function openProfile(job: ExportJob): Promise<ArchiveProfile> {
  checkFormat(job);
  const profile = parseProfile(job.profile);
  return archiveProfiles[profile.id as ProfileId](profile);
}
