import type { MediaKind } from '../lessons/html-media.ts';
import type { LessonContent } from '../lessons/lesson-content.ts';
import { mediaReferences } from '../lessons/media-references.ts';
import { browserFault } from '../media/browser-formats.ts';
import type { FileCodecs } from '../media/browser-formats.ts';
import { captionsType, otherCaptionTypes } from '../media/captions.ts';
import type { PackageMedium } from './lesson-package.ts';
import { FaultList } from './package-error.ts';
import { replaceUrls } from './replace-urls.ts';

/**
 * Tells each medium how core widgets load it. Those that they load as captions get the type of captions, which Lectern
 * converts to WebVTT.
 */
export function setUses(content: LessonContent, media: PackageMedium[]): void {
  const uses = mediaUses(content);
  for (const medium of media) {
    const { captions, ...others } = uses.get(medium.id) ?? {};
    if (Object.keys(others).length > 0) medium.uses = others;
    const isOtherText = otherCaptionTypes.has(medium.mimeType.toLowerCase());
    if (captions !== undefined && isOtherText) medium.mimeType = captionsType;
  }
}

/**
 * Warns of each use of a file that browsers do not show.
 *
 * @param file its name in messages, type and codecs; without codecs if its bytes are not here
 */
export function unshownUses(
  { uses = {} }: Pick<PackageMedium, 'uses'>,
  { name, mimeType, codecs }: { name: string; mimeType: string; codecs?: FileCodecs },
): string[] {
  return (Object.keys(uses) as (keyof typeof uses)[]).flatMap((use) => {
    const fault = browserFault(use, mimeType, codecs);
    return fault === null ? [] : `${name} ${fault} (${uses[use] ?? ''})`;
  });
}

/** Returns for each media id how core widgets load the file, with the first place of each use. */
function mediaUses(content: LessonContent): Map<string, Partial<Record<MediaKind, string>>> {
  const uses = new Map<string, Partial<Record<MediaKind, string>>>();
  // Faults of the HTML are known since the references were linked.
  replaceUrls(
    content,
    (written, use, place) => {
      if (use === 'link' || use === 'custom' || use === 'customText') return null;
      for (const id of mediaReferences(written)) {
        const ofMedium = uses.get(id) ?? {};
        ofMedium[use === 'videoBlock' ? 'video' : use] ??= place;
        uses.set(id, ofMedium);
      }
      return null;
    },
    { faults: new FaultList() },
  );
  return uses;
}
