import { cartridgeVersionOf } from '../../../shared/exports/package-query.ts';
import type { LessonContent } from '../../../shared/lessons/lesson-content.ts';
import type { NamedProfile } from '../../../shared/exports/profiles.ts';
import { outlineOf, pointsOfWidget } from '../../../shared/progress/outline.ts';
import { fileInMemory } from '../generated-files.ts';
import { cartridgeLink, cartridgeManifest, linkPath } from './cartridge-xml.ts';
import { contentOf } from './page-files.ts';
import type { ArchiveProfile } from './profile.ts';

/** Returns the profile of a thin Common Cartridge: a link to the version, and no content. */
export function cartridgeArchive({ variant, options }: Omit<NamedProfile, 'id'>): ArchiveProfile {
  const [, publicUrl = ''] = variant?.split(';') ?? [];
  const version = cartridgeVersionOf(options);
  return {
    plan: () => Promise.resolve({ media: [], widgets: [] }),
    folders: [],
    knownBytes: 0,
    fileCount: 2,
    rereadPaths: () => new Set(),
    async extraFiles(parts) {
      const { lessonId, _id: versionId, title } = parts.version;
      const content = await contentOf(parts);
      const link = { lessonId, versionId, title, isGraded: isGraded(content) };
      const cartridge = { id: versionId, title, language: content.lesson.language ?? 'en', version };
      return [
        fileInMemory(linkPath(link), Buffer.from(cartridgeLink(link, publicUrl, version))),
        fileInMemory('imsmanifest.xml', Buffer.from([...cartridgeManifest(cartridge, [link])].join(''))),
      ];
    },
    manifests: () => Promise.resolve([]),
  };
}

/** Returns whether answers to a lesson earn points. */
export function isGraded(content: LessonContent): boolean {
  const steps = outlineOf(content).sections.flatMap((section) => section.steps);
  return steps.some(({ widgets }) => widgets.some((widget) => (pointsOfWidget(widget) ?? 0) > 0));
}
