import type { Catalog } from '../../shared/i18n/message.ts';
import type { SessionRecord } from './session-record.ts';

/** What the server puts into the page of a lesson. It comes from Lectern itself, so its shape is relied on. */
export interface LessonBoot {
  page: 'lesson';
  lessonId: string;
  title: string;
  /** A BCP 47 tag. */
  language: string;
  versionId: string;
  /** The time of the server when it made the page, ISO 8601. */
  now: string;
  token: { expiresAt: string };
  /** Names the learner in this lesson, without saying who it is. */
  learner: string;
  session: SessionRecord & Learner;
  lesson: unknown;
  content: { base: string; expiresAt: string };
  /** Types of custom widgets that have a stylesheet; null or undefined where only asking for one can tell. */
  styledWidgets?: string[] | null;
  sessionUrl: string;
  contentUrl: string;
  frameUrl: string;
  /** Origins of the pages that may show the lesson; null for any. */
  allowedOrigins: string[] | null;
  /** The messages of this script, in the page's language. */
  messages: Catalog;
  /** Why nothing is recorded; null where it is. */
  untracked: 'anonymous' | 'preview' | 'authorPreview' | null;
  /** What is different after an LTI launch; null without one. */
  launch: Launch | null;
}

export interface Launch {
  /** Where the course is, http or https; null where nobody knows. */
  returnUrl: string | null;
}

/** Of a page without a lesson. It goes on as soon as there is a token. */
export interface NoticeBoot {
  page: 'waiting' | 'failure';
  /** Null in an address that names no lesson. */
  lessonId: string | null;
  /** What keeps the lesson from being shown; of a failure only. */
  code?: string;
  allowedOrigins: string[] | null;
}

/** The fields of a session that say whose it is. */
export interface Learner {
  learnerId?: string;
  ltiUserId?: string;
  platformId?: string;
  contextId?: string | null;
}

/** Undefined on a page that the server made without one. */
export function readBoot(page: Document): LessonBoot | NoticeBoot | undefined {
  const text = page.getElementById('lectern-boot')?.textContent;
  return text ? (JSON.parse(text) as LessonBoot | NoticeBoot) : undefined;
}

/** Whether two sessions are of the same learner. */
export function isSameLearner(a: Learner, b: Learner): boolean {
  const names = ['learnerId', 'ltiUserId', 'platformId', 'contextId'] as const;
  return names.every((name) => (a[name] ?? null) === (b[name] ?? null));
}
