import { cartridgeVersionOf } from '../../../shared/exports/package-query.ts';
import type { NamedProfile } from '../../../shared/exports/profiles.ts';
import { fileInMemory } from '../generated-files.ts';
import { cartridgeLink, cartridgeManifest, linkPath } from './cartridge-xml.ts';
import type { ArchiveProfile } from './profile.ts';

/** Returns the profile of a thin Common Cartridge: a link to the version, and no content. */
export function cartridgeArchive({ variant, options }: Omit<NamedProfile, 'id'>): ArchiveProfile {
  const [, publicUrl = ''] = variant?.split(';') ?? [];
  const version = cartridgeVersionOf(options);
  return {
    ...{ withPage: false, maxStateCharacters: null },
    plan: () => Promise.resolve({ media: [], widgets: [], externalVideos: [] }),
    folders: [],
    knownBytes: 0,
    fileCount: 2,
    rereadPaths: () => new Set(),
    extraFiles(parts) {
      const { lessonId, _id: versionId, title } = parts.version;
      const { language, isGraded: graded } = parts.texts;
      const link = { lessonId, versionId, title, isGraded: graded };
      const cartridge = { id: versionId, title, language: language ?? 'en', version };
      return Promise.resolve([
        fileInMemory(linkPath(link), Buffer.from(cartridgeLink(link, publicUrl, version))),
        fileInMemory('imsmanifest.xml', Buffer.from([...cartridgeManifest(cartridge, [link])].join(''))),
      ]);
    },
    manifests: () => Promise.resolve([]),
  };
}
