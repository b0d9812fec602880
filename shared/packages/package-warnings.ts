import { mediaReferences } from '../lessons/media-references.ts';
import type { LessonContent } from '../lessons/lesson-content.ts';
import { samePath, shownPath } from './entry-name.ts';
import type { PackageMedium } from './lesson-package.ts';
import type { PackageManifest } from './manifest.ts';
import { someOf } from './package-error.ts';
import type { PackageSource } from './package-source.ts';

/** Warns of files in media/ and widgets/ that manifest.json does not list, and that are therefore not imported. */
export function unlistedFiles(manifest: PackageManifest, source: PackageSource): string[] {
  const { media, widgets } = manifest.files;
  const named = [
    ...[...media, ...manifest.failedMedia].map(({ localPath }) => localPath),
    ...widgets.flatMap(({ localPath, cssLocalPath }) => [localPath, cssLocalPath]),
  ];
  const listed = new Set(named.map((path) => path && samePath(path.replace(/^\.\//, ''))));
  const unlisted = source.files.filter(({ path }) => /^(?:media|widgets)\//.test(path) && !listed.has(path));
  if (unlisted.length === 0) return [];
  return [`manifest.json: does not list ${someOf(unlisted.map(({ path }) => shownPath(path)))}`];
}

/** Warns of media that the lesson refers to or credits, but that the package has neither as a file nor as a source. */
export function unknownMedia(
  content: LessonContent,
  manifest: PackageManifest,
  media: PackageMedium[],
): string[] {
  const known = new Set(media.map(({ id }) => id));
  const referred = mediaReferences(content).filter((id) => !known.has(id));
  const credited = new Set(
    manifest.attributions.map(({ mediaId }) => mediaId).filter((id) => !known.has(id)),
  );
  const warnings: string[] = [];
  if (referred.length > 0) {
    warnings.push(`lesson.json: refers to media that the package does not have: ${someOf(referred)}`);
  }
  if (credited.size > 0) {
    warnings.push(`manifest.json: credits media that the package does not have: ${someOf([...credited])}`);
  }
  return warnings;
}

/** Warns of listed media that nothing in the lesson refers to. They are imported, but no archive has them. */
export function unusedMedia(
  content: LessonContent,
  manifest: PackageManifest,
  media: PackageMedium[],
): string[] {
  const used = new Set(mediaReferences(content));
  const known = new Set(media.map(({ id }) => id));
  const unused = manifest.files.media.filter(({ id }) => known.has(id) && !used.has(id));
  if (unused.length === 0) return [];
  const names = unused.map(({ id, localPath }) => (localPath === undefined ? id : shownPath(localPath)));
  return [`manifest.json: lists media that the lesson does not use: ${someOf(names)}`];
}
