import { playedProp } from '../lessons/block-props.ts';
import { lessonBlocks, usedWidgetTypes } from '../lessons/blocks.ts';
import { isCoreIn } from '../lessons/core-widgets.ts';
import type { OwnTypes } from '../lessons/core-widgets.ts';
import { externalVideo } from '../lessons/external-video.ts';
import type { LessonContent } from '../lessons/lesson-content.ts';
import type { LessonChunk } from '../lessons/lesson-skeleton.ts';
import { mediaOfTypes, mediaPlaces, mediaReferences } from '../lessons/media-references.ts';
import type { MediaPlace } from '../lessons/media-references.ts';
import { playabilityErrors } from '../lessons/playability.ts';
import type { PlayabilityError } from '../lessons/playability.ts';
import { playerLessonText } from '../lessons/player-lesson.ts';
import type { MediaAttribution } from '../lessons/player-lesson.ts';
import { estimatedDuration, totalsOf } from '../lessons/totals.ts';
import { parseContent } from '../models/gzip-parts.ts';
import type { PreparedKind, PreparedText } from '../models/prepared-lesson.ts';
import { GzipText } from '../platform/gzip-text.ts';
import { outlineOf } from '../progress/outline.ts';
import type { LessonOutline } from '../progress/outline.ts';
import { divideLesson } from './lesson-chunks.ts';

/** The facts about a version's content that requests use without reading the content. */
export interface LessonFacts {
  title: string;
  /** The author's BCP 47 tag. */
  language: string | null;
  totalSections: number;
  totalSteps: number;
  /** Minutes. */
  estimatedDuration: number;
  playabilityErrors: PlayabilityError[];
  outline: LessonOutline;
  /** The chunks of steps, in playing order. */
  chunks: LessonChunk[];
  hasExternalVideos: boolean;
  /** The pictures at other hosts, whose sizes an import does not know: at most {@link maxExternalPictures}. */
  externalPictures: ExternalPicture[];
}

export interface ExternalPicture {
  mediaId: string;
  url: string;
}

/** Each load of the lesson looks up their sizes. */
const maxExternalPictures = 1_000;

/** What a lesson's facts need of its media. */
export interface PreparedMedia {
  /** The credits, also of media that the lesson does not use. */
  attributions: readonly MediaAttribution[];
  /** Also those that the lesson does not use. */
  externalPictures: readonly ExternalPicture[];
}

/** The media and widget types that a version's content refers to, sorted. */
export interface ContentUses {
  media: string[];
  /** Where media are used: the first places of each, by id. Cover and settings are not among them. */
  places: Record<string, UsePlace[]>;
  /** The media that custom widgets name. */
  customMedia: string[];
  widgetTypes: string[];
  /** The pages of videos that only the player of another host shows. */
  externalVideos: string[];
}

/** A place of a lesson that uses a media file. */
export interface UsePlace {
  stepId: string;
  stepTitle: string;
  block: MediaPlace['block'];
}

const maxPlacesOfMedium = 10;

/** The input of the task that prepares a stored lesson. */
export interface StoredLesson {
  parts: Buffer[];
  ownTypes: OwnTypes;
  media: PreparedMedia;
}

/** The task that prepares a stored lesson. */
export async function* prepareStored({ parts, ownTypes, media }: StoredLesson): AsyncGenerator<PreparedText> {
  yield* prepareLesson(await parseContent(parts), ownTypes, media);
}

/** Yields the texts of a lesson. The facts come last, because they say that all others are there. */
export async function* prepareLesson(
  content: LessonContent,
  ownTypes: OwnTypes,
  { attributions, externalPictures }: PreparedMedia,
): AsyncGenerator<PreparedText> {
  const media = mediaReferences(content);
  const used = new Set(media);
  const credits = attributions.filter(({ mediaId }) => used.has(mediaId));
  const { skeleton, chunks } = divideLesson(content, ownTypes, credits);
  for (const { id, text } of chunks) yield compressed(`chunk-${id}`, text);
  yield compressed('lesson', playerLessonText(content, credits));
  yield compressed('skeleton', skeleton);
  const uses: ContentUses = {
    media,
    places: placesOf(content),
    customMedia: mediaOfTypes(content, (type) => !isCoreIn(ownTypes, type)),
    widgetTypes: usedWidgetTypes(content),
    externalVideos: externalVideosOf(content, ownTypes),
  };
  yield compressed('uses', JSON.stringify(uses));
  const facts: LessonFacts = {
    ...factsOf(content, chunks, ownTypes),
    hasExternalVideos: uses.externalVideos.length > 0,
    externalPictures: externalPictures
      .filter(({ mediaId }) => used.has(mediaId))
      .slice(0, maxExternalPictures),
  };
  yield compressed('facts', JSON.stringify(facts));
}

async function compressed(kind: PreparedKind, text: string): Promise<PreparedText> {
  return { kind, file: (await GzipText.of(text)).file };
}

function placesOf(content: LessonContent): ContentUses['places'] {
  const places = new Map<string, UsePlace[]>();
  for (const { steps } of content.sections) {
    for (const { id: stepId, title: stepTitle, content: stepContent } of steps) {
      for (const { mediaId, block } of mediaPlaces(stepContent)) {
        const known = places.get(mediaId) ?? [];
        if (known.length < maxPlacesOfMedium) places.set(mediaId, [...known, { stepId, stepTitle, block }]);
      }
    }
  }
  return Object.fromEntries(places);
}

function externalVideosOf(content: LessonContent, ownTypes: OwnTypes): string[] {
  const { overrides } = content.lesson.widget_settings;
  const pages = new Set<string>();
  for (const { block } of lessonBlocks(content)) {
    if (block.type !== 'Video' || !isCoreIn(ownTypes, block.type)) continue;
    const src = playedProp(block, overrides, 'src');
    if (typeof src === 'string' && externalVideo(src) !== undefined) pages.add(src);
  }
  return [...pages].sort();
}

function factsOf(
  content: LessonContent,
  chunks: readonly LessonChunk[],
  ownTypes: OwnTypes,
): Omit<LessonFacts, 'hasExternalVideos' | 'externalPictures'> {
  return {
    title: content.lesson.title,
    language: content.lesson.language ?? null,
    ...totalsOf(content),
    estimatedDuration: estimatedDuration(content),
    playabilityErrors: playabilityErrors(content),
    outline: outlineOf(content, ownTypes),
    chunks: chunks.map(({ id, steps }) => ({ id, steps })),
  };
}
