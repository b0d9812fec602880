import type { LessonContent, Section, Step } from './lesson-content.ts';
import { orderedSections, totalsOf } from './totals.ts';

/** The credit for a media file, which learners must see. */
export interface MediaAttribution {
  mediaId: string;
  text: string;
  url: string;
  portfolioUrl: string;
}

/** The credit for a media file, whichever id it has. */
export type Attribution = Omit<MediaAttribution, 'mediaId'>;

/** Returns the credits of media, by id. */
export function attributionsOf(
  media: readonly { id: string; attributions: readonly Attribution[] }[],
): MediaAttribution[] {
  return media
    .flatMap(({ id, attributions }) =>
      attributions.map(({ text, url, portfolioUrl }) => ({ mediaId: id, text, url, portfolioUrl })),
    )
    .sort((a, b) => (a.mediaId < b.mediaId ? -1 : a.mediaId > b.mediaId ? 1 : 0));
}

/** Returns the media that are pictures at other hosts. */
export function externalPicturesOf(
  media: readonly { id: string; mimeType: string; sourceUrl?: string | null | undefined }[],
): { mediaId: string; url: string }[] {
  return media.flatMap(({ id, mimeType, sourceUrl }) =>
    sourceUrl && /^image\//i.test(mimeType) ? [{ mediaId: id, url: sourceUrl }] : [],
  );
}

/**
 * Returns the lesson of player data (docs/player.md): sections and steps in playing order, media references as
 * `media:<uuid>`, the credits of its media, and none of lesson.json's further fields. The status is missing: it belongs to the version and not to
 * its content.
 */
export function playerLesson(content: LessonContent, attributions: readonly MediaAttribution[]) {
  const { id, title, variable_definitions, widget_settings } = content.lesson;
  const { totalSections, totalSteps } = totalsOf(content);
  return {
    lesson: {
      id,
      title,
      variable_definitions: variable_definitions.map(({ name, type, initialValue = null }) => ({
        name,
        type,
        initialValue,
      })),
      widget_settings: { overrides: widget_settings.overrides },
    },
    sections: orderedSections(content).map(playerSection),
    totalSteps,
    totalSections,
    attributions,
  };
}

function playerSection({ id, title, order_index, steps }: Section) {
  return { id, title, order_index, steps: steps.map(playerStep) };
}

function playerStep({ id, title, order_index, content }: Step) {
  const { content: blocks, root, zones } = content;
  // Older content has blocks in zones.
  return { id, title, order_index, content: { content: blocks, root, ...(zones && { zones }) } };
}

const opening = '{"lesson":{';

/**
 * Returns the JSON of a {@link playerLesson} without its first characters, which {@link playerLessonOpening} returns
 * with the status: responses join both, and never parse the lesson, which may be large.
 */
export function playerLessonText(content: LessonContent, attributions: readonly MediaAttribution[]): string {
  return JSON.stringify(playerLesson(content, attributions)).slice(opening.length);
}

export function playerLessonOpening(status: string): string {
  return `${opening}"status":${JSON.stringify(status)},`;
}
