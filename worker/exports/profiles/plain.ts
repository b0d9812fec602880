import { jsonFile } from '../generated-files.ts';
import { planExport } from '../plan.ts';
import type { ArchiveProfile } from './profile.ts';

/** The lesson alone: lesson.json, its media and widgets, and manifest.json. */
export const plainArchive: ArchiveProfile = {
  plan: planExport,
  withPage: false,
  maxStateCharacters: null,
  folders: ['media/', 'widgets/'],
  knownBytes: 0,
  fileCount: 2,
  rereadPaths: () => new Set(),
  extraFiles: ({ lesson }) => Promise.resolve([lesson]),
  manifests: async (manifest) => [await jsonFile('manifest.json', manifest)],
};
