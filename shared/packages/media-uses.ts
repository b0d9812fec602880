import type { MediaKind } from '../lessons/html-media.ts';
import type { LessonContent } from '../lessons/lesson-content.ts';
import { mediaReferences } from '../lessons/media-references.ts';
import { captionsType, otherCaptionTypes } from '../media/captions.ts';
import type { PackageMedium } from './lesson-package.ts';
import { FaultList } from './package-error.ts';
import { replaceUrls } from './replace-urls.ts';

/** Gives the media that core widgets load as captions the type of captions, which Lectern converts to WebVTT. */
export function setCaptionTypes(content: LessonContent, media: PackageMedium[]): void {
  const uses = mediaUses(content);
  for (const medium of media) {
    const isUsed = uses.get(medium.id)?.has('captions') ?? false;
    if (isUsed && otherCaptionTypes.has(medium.mimeType.toLowerCase())) medium.mimeType = captionsType;
  }
}

/** Returns for each media id how core widgets load the file, with the first place of each use. */
function mediaUses(content: LessonContent): Map<string, Map<MediaKind, string>> {
  const uses = new Map<string, Map<MediaKind, string>>();
  // Faults of the HTML are known since the references were linked.
  replaceUrls(
    content,
    (written, use, place) => {
      if (use === 'link' || use === 'custom' || use === 'customText') return null;
      for (const id of mediaReferences(written)) {
        const ofMedium = uses.get(id) ?? new Map<MediaKind, string>();
        if (!ofMedium.has(use)) ofMedium.set(use, place);
        uses.set(id, ofMedium);
      }
      return null;
    },
    new FaultList(),
  );
  return uses;
}
