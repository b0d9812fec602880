import type { Catalog, MessageKey } from '../../shared/i18n/message.ts';
import type { MessageValues } from '../../shared/i18n/message-values.ts';
import type { PictureSize } from '../../shared/lessons/picture-size.ts';
import type { LessonSkeleton } from '../../shared/lessons/lesson-skeleton.ts';
import type { SessionRecord } from './session-record.ts';

/** The messages of this script, by their keys. None has placeholders, so the script needs no formatter. */
export type NoticeTexts = Readonly<
  Record<Exclude<Extract<MessageKey, `notice.${string}`>, keyof MessageValues>, string>
>;

/** The player's messages, in one of Lectern's languages. */
export interface PlayerMessages {
  language: string;
  texts: Catalog;
}

/** The data in the page of a lesson. It comes from Lectern itself, so the script trusts its shape. */
export interface LessonBoot {
  page: 'lesson';
  lessonId: string;
  title: string;
  /** A BCP 47 tag. */
  language: string;
  versionId: string;
  /** The server's time when it rendered the page, ISO 8601. */
  now: string;
  token: { expiresAt: string };
  /** A key for the learner in this lesson, which does not reveal who they are. */
  learner: string;
  session: SessionRecord & Learner;
  lesson: LessonSkeleton;
  /** The index of the chunk in `steps`, where the learner continues. */
  chunk: number;
  /** The JSON of the chunk's steps. */
  steps: string;
  /** The folders of media and widgets, and of the chunks. */
  content: { base: string; expiresAt: string; chunksUrl: string };
  /** Types of custom widgets that have a stylesheet; null or undefined if unknown. */
  styledWidgets?: string[] | null;
  sessionUrl: string;
  contentUrl: string;
  /** Origins that may frame the lesson; null for any. */
  allowedOrigins: string[] | null;
  /** The messages in the page's language. */
  messages: NoticeTexts;
  lessonMessages: PlayerMessages;
  /** The reason for recording nothing; null if Lectern records. */
  untracked: 'anonymous' | 'preview' | 'observer' | 'authorPreview' | null;
  /** Null without an LTI launch. */
  launch: Launch | null;
  /** Whether the page may open the players of external videos. */
  externalVideos: boolean;
  /** Null or undefined for Lectern's own look. */
  theme?: ThemeBoot | null;
  /** The sizes of pictures that the lesson does not say, by media id. */
  pictureSizes?: Record<string, PictureSize>;
}

/** The organization's look. */
export interface ThemeBoot {
  css: string;
  logo: { src: string; alt: string } | null;
}

export interface Launch {
  /** URL of the course, http or https; null if unknown. */
  returnUrl: string | null;
  /** Whether the platform gets a grade. */
  sendsGrade: boolean;
}

/** The data in a page without a lesson, which may wait for a token. */
export interface NoticeBoot {
  page: 'waiting' | 'failure';
  /** Null if the URL names no lesson. */
  lessonId: string | null;
  /** The code of the failure. */
  code?: string;
  /** The key of a learner whose data were erased. */
  erasedLearner?: string;
  allowedOrigins: string[] | null;
}

/** The fields of a session that identify the learner. */
export interface Learner {
  learnerId?: string;
  ltiUserId?: string;
  platformId?: string;
  contextId?: string | null;
}

/** Reads the data; undefined on a page without any. */
export function readBoot(page: Document): LessonBoot | NoticeBoot | undefined {
  const [text, steps] = ['lectern-boot', 'lectern-steps'].map((id) => page.getElementById(id)?.textContent);
  if (!text) return undefined;
  const boot = JSON.parse(text) as Omit<LessonBoot, 'steps'> | NoticeBoot;
  return boot.page === 'lesson' ? { ...boot, steps: steps ?? '[]' } : boot;
}

export function isSameLearner(a: Learner, b: Learner): boolean {
  const names = ['learnerId', 'ltiUserId', 'platformId', 'contextId'] as const;
  return names.every((name) => (a[name] ?? null) === (b[name] ?? null));
}
