import { createHash, randomUUID } from 'node:crypto';
import type { Catalog } from '../../shared/i18n/message.ts';
import type { LaunchToken, PlayerToken } from '../../shared/tokens/player-tokens.ts';
import type { PictureSize } from '../../shared/lessons/picture-size.ts';
import type { GzipText } from '../../shared/platform/gzip-text.ts';
import { scriptText } from '../../shared/platform/html.ts';
import { printJson } from '../../shared/platform/raw-json.ts';
import { isHttpUrl } from '../../shared/platform/parse-url.ts';
import { learnerName } from '../player/authorize.ts';

/**
 * Codes that tell support why a page shows no lesson. Each has the messages `embed.<code>.title` and
 * `embed.<code>.text`.
 */
export const failureCodes = [
  'bad_address',
  'token_expired',
  'token_invalid',
  'token_revoked',
  'learner_erased',
  'wrong_lesson',
  'not_available',
  'not_playable',
  'too_many_requests',
  'server_error',
] as const;
export type FailureCode = (typeof failureCodes)[number];

/**
 * A piece of the JSON inside an embed page, from which its script starts: the first step needs no further request. It
 * has pieces because Lectern never parses the lesson or compresses it again.
 */
export type BootText = Buffer | GzipText;

/** The boot data of a page that shows no lesson. */
export type NoticeBoot =
  | { page: 'waiting'; lessonId: string; allowedOrigins: null }
  | {
      page: 'failure';
      lessonId: string | null;
      code: FailureCode;
      allowedOrigins: null;
      /** The key of a learner whose data were erased: the browser removes the unsaved answers. */
      erasedLearner?: string | undefined;
    };

/**
 * The boot data of a page that plays a lesson, without `session` and `lesson` (the `LessonSkeleton`). URLs are absolute
 * or paths.
 */
export interface LessonBoot {
  page: 'lesson';
  lessonId: string;
  versionId: string;
  title: string;
  /** A BCP 47 tag. */
  language: string;
  now: Date;
  token: { expiresAt: Date };
  /** The key under which the browser stores the learner's unsaved answers. */
  learner: string;
  /** The folders of media and widgets, and of the chunks. */
  content: { base: string; expiresAt: Date; chunksUrl: string };
  /** The index of the chunk in the page. */
  chunk: number;
  /** Types of custom widgets in the version that have a stylesheet; null if unknown. */
  styledWidgets: string[] | null;
  /** Saves progress, with the token. */
  sessionUrl: string;
  /** Renews `content`, with the token. */
  contentUrl: string;
  /** Origins that may frame the page; null for any. */
  allowedOrigins: readonly string[] | null;
  /** The script's messages in the page's language; it needs them offline, too. */
  messages: Catalog;
  /** The player's messages in the lesson's language: the frame's script contains none. */
  lessonMessages: { language: string; texts: Catalog };
  /** Why Lectern records nothing; null if it records. */
  untracked: Untracked | null;
  /** Null without an LTI launch. */
  launch: LaunchBoot | null;
  /** Whether the page may open the players of external videos. */
  externalVideos: boolean;
  /** The organization's look; null for Lectern's own. */
  theme: ThemeBoot | null;
  /** The sizes of pictures at other hosts that were downloaded before, by media id. */
  pictureSizes: Record<string, PictureSize>;
}

/** Reasons of launches, and `authorPreview` for preview tokens. */
type Untracked = NonNullable<LaunchToken['untracked']> | 'authorPreview';

/** A theme as pages apply it. */
export interface ThemeBoot {
  css: string;
  logo: { src: string; alt: string } | null;
}

export interface LaunchBoot {
  /** URL of the course; null if the platform did not send one. */
  returnUrl: string | null;
  /** Whether the platform gets a grade. */
  sendsGrade: boolean;
}

export function noticeBoot(boot: NoticeBoot): Buffer[] {
  return [Buffer.from(scriptText(JSON.stringify(boot)))];
}

/** @param session members of the session; some may be raw JSON. */
export function lessonBoot(
  boot: LessonBoot,
  session: Record<string, unknown>,
  skeleton: GzipText,
): BootText[] {
  const members = JSON.stringify(boot).slice(0, -1);
  const opening = scriptText(`${members},"session":${printJson(session)},"lesson":`);
  return [Buffer.from(opening), skeleton, Buffer.from('}')];
}

/** Returns the reason for recording nothing for a token's bearer; null if Lectern records. */
export function untrackedBecause(token: PlayerToken): Untracked | null {
  if (token.kind === 'preview') return 'authorPreview';
  return token.kind === 'launch' ? (token.untracked ?? null) : null;
}

export function launchBoot(token: PlayerToken): LaunchBoot | null {
  if (token.kind !== 'launch') return null;
  return { returnUrl: courseUrl(token), sendsGrade: token.sendsGrade === true };
}

/** Returns the URL of the course that a launch came from; null if the platform sent none, or none for browsers. */
export function courseUrl({ returnUrl }: Pick<LaunchToken, 'returnUrl'>): string | null {
  return returnUrl !== undefined && isHttpUrl(returnUrl) ? returnUrl : null;
}

/**
 * Returns a key for a learner in a lesson. It is the same for each of the learner's tokens, and does not reveal their
 * identity. Each page that records nothing gets its own key.
 */
export function learnerKey(token: PlayerToken): string {
  if (token.kind === 'preview' || untrackedBecause(token) !== null) return randomUUID();
  return createHash('sha256').update(learnerName(token)).digest('base64url');
}
