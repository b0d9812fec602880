import { lessonBlocks, withoutTags } from './blocks.ts';
import { isContainer } from './json-values.ts';
import type { LessonContent } from './lesson-content.ts';
import { readPictureSize } from './picture-size.ts';
import type { PictureSize } from './picture-size.ts';

/** The page before the first step, besides the title: `lesson.cover` of a package. */
export interface LessonCover {
  /** A media reference, or a path in an archive; '' without a picture. */
  image: string;
  imageAlt: string;
  /** Missing if unknown. */
  imageSize?: PictureSize;
  /** Plain text; paragraphs end with line breaks. */
  text: string;
  /** What learners will learn. */
  objectives: string[];
  minutes: number;
}

/** A learner's reading speed. */
const wordsPerMinute = 180;

/** Minutes for a block of a type, in addition to its words. Lectern does not know the length of recordings. */
const blockMinutes = { Video: 3, Audio: 3, Image: 0.2 };
const questionMinutes = 0.75;

/** Members whose strings learners do not read. */
const unreadMembers = new Set(['id', 'type', 'src', 'poster', 'captions', 'variable', 'visibleIf', 'mathml']);

const questionMember = 'prompt';

/** Scripts without spaces between words: two characters count as a word. */
const spaceless = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}]/gu;
const words = /[\p{L}\p{N}]+/gu;

/** Returns whether a text is a reference to a media file, or its path in an archive. */
export function isMediaReference(text: string): boolean {
  return /^(?:media:|\.\/media\/)/.test(text);
}

/** Returns the cover of a lesson; null for a lesson that begins with its first step. It skips invalid parts. */
export function coverOf(content: Pick<LessonContent, 'lesson' | 'sections'>): LessonCover | null {
  const { cover } = content.lesson;
  if (!isContainer(cover) || Array.isArray(cover)) return null;
  const { image, imageAlt, imageSize, text, objectives } = cover as Record<string, unknown>;
  const size = readPictureSize(imageSize);
  const string = (value: unknown) => (typeof value === 'string' ? value : '');
  return {
    // An older import may have kept another URL, but learners' browsers contact no third party.
    image: isMediaReference(string(image)) ? string(image) : '',
    imageAlt: string(imageAlt),
    ...(size && { imageSize: size }),
    text: string(text),
    objectives: Array.isArray(objectives) ? objectives.map(string).filter((entry) => entry !== '') : [],
    minutes: minutesOf(content),
  };
}

/**
 * Returns the id of the media file that stands for a lesson in lists: the picture of its cover, or else its first one;
 * null for a lesson without pictures.
 */
export function pictureOf(content: LessonContent): string | null {
  const idOf = (src: unknown) => /^media:([\da-f-]{36})$/.exec(typeof src === 'string' ? src : '')?.[1];
  const cover = idOf(coverOf(content)?.image);
  if (cover !== undefined) return cover;
  for (const { block } of lessonBlocks(content)) {
    const picture = block.type === 'Image' ? idOf(block.props.src) : undefined;
    if (picture !== undefined) return picture;
  }
  return null;
}

/** Returns the minutes that a lesson takes: the author's estimate, or else a count of words, media and questions. */
export function minutesOf({ lesson, sections }: Pick<LessonContent, 'lesson' | 'sections'>): number {
  const { estimatedDuration } = lesson;
  if (typeof estimatedDuration === 'number' && estimatedDuration > 0) return Math.ceil(estimatedDuration);
  let minutes = 0;
  const pending: unknown[] = sections.flatMap(({ steps }) => steps.map(({ content }) => content));
  while (pending.length > 0) {
    const value = pending.pop();
    if (typeof value === 'string') minutes += wordsIn(value) / wordsPerMinute;
    if (!isContainer(value)) continue;
    const { type, [questionMember]: prompt } = value as Record<string, unknown>;
    if (typeof type === 'string' && Object.hasOwn(blockMinutes, type)) {
      minutes += blockMinutes[type as keyof typeof blockMinutes];
    }
    if (typeof prompt === 'string') minutes += questionMinutes;
    for (const [name, member] of Object.entries(value)) {
      if (!unreadMembers.has(name)) pending.push(member);
    }
  }
  return Math.max(1, Math.round(minutes));
}

function wordsIn(html: string): number {
  const text = withoutTags(html);
  return count(text, spaceless) / 2 + count(text.replace(spaceless, ' '), words);
}

/** Counts matches without a list of them, which may be larger than the text. */
function count(text: string, pattern: RegExp): number {
  let found = 0;
  for (const _match of text.matchAll(pattern)) found += 1;
  return found;
}
