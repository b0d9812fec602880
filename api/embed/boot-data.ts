import { createHash, randomUUID } from 'node:crypto';
import type { Catalog } from '../../shared/i18n/message.ts';
import { withStatus } from '../../shared/lessons/player-lesson.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import type { LaunchToken, PlayerToken } from '../../shared/tokens/player-tokens.ts';
import type { PreparedLesson } from '../../shared/player/prepared-lessons.ts';
import { printJson } from '../../shared/platform/raw-json.ts';
import { isHttpUrl } from '../../shared/platform/parse-url.ts';
import { learnerName } from '../player/session.ts';

/** Codes for support: why a page shows no lesson. Each has the messages `embed.<code>.title` and `embed.<code>.text`. */
export const failureCodes = [
  'bad_address',
  'token_expired',
  'token_invalid',
  'token_revoked',
  'wrong_lesson',
  'not_available',
  'not_playable',
  'too_many_requests',
  'server_error',
] as const;
export type FailureCode = (typeof failureCodes)[number];

/**
 * JSON inside an embed page, from which its script starts: the first step needs no further request. It consists of
 * pieces of UTF-8, because Lectern copies a lesson and never parses it.
 */
export type BootData = Buffer[];

/** The boot data of a page that shows no lesson. */
export type NoticeBoot =
  | { page: 'waiting'; lessonId: string; allowedOrigins: null }
  | { page: 'failure'; lessonId: string | null; code: FailureCode; allowedOrigins: null };

/** The boot data of a page that plays a lesson, without `session` and `lesson`. URLs are absolute or paths. */
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
  /** The folder of media and widgets. */
  content: { base: string; expiresAt: Date };
  /** Types of custom widgets in the version that have a stylesheet; null if unknown. */
  styledWidgets: string[] | null;
  /** Saves progress, with the token. */
  sessionUrl: string;
  /** Renews `content`, with the token. */
  contentUrl: string;
  /** The document that plays the lesson in the inner frame. */
  frameUrl: string;
  /** Origins that may frame the page; null for any. */
  allowedOrigins: readonly string[] | null;
  /** The script's messages in the page's language; it needs them offline, too. */
  messages: Catalog;
  /** Why Lectern records nothing; null if it records. */
  untracked: Untracked | null;
  /** Null without an LTI launch. */
  launch: LaunchBoot | null;
}

/** Reasons of launches, and `authorPreview` for preview tokens. */
type Untracked = NonNullable<LaunchToken['untracked']> | 'authorPreview';

export interface LaunchBoot {
  /** URL of the course; null if the platform did not send one. */
  returnUrl: string | null;
}

export function noticeBoot(boot: NoticeBoot): BootData {
  return [scriptJson(Buffer.from(JSON.stringify(boot)))];
}

/** @param session members of the session; some may be raw JSON. */
export function lessonBoot(
  boot: LessonBoot,
  session: Record<string, unknown>,
  { lesson }: Pick<PreparedLesson, 'lesson'>,
  { status }: Pick<LessonVersion, 'status'>,
): BootData {
  const members = JSON.stringify(boot).slice(0, -1);
  const opening = Buffer.from(`${members},"session":${printJson(session)},"lesson":`);
  return [scriptJson(opening), ...withStatus(lesson, status).map(scriptJson), Buffer.from('}')];
}

/** Returns why Lectern records nothing for a token's bearer; null if it records. */
export function untrackedBecause(token: PlayerToken): Untracked | null {
  if (token.kind === 'preview') return 'authorPreview';
  return token.kind === 'launch' ? (token.untracked ?? null) : null;
}

export function launchBoot(token: PlayerToken): LaunchBoot | null {
  if (token.kind !== 'launch') return null;
  return { returnUrl: courseUrl(token) };
}

/** Returns the URL of the course that a launch came from; null if the platform sent none, or none for browsers. */
export function courseUrl({ returnUrl }: Pick<LaunchToken, 'returnUrl'>): string | null {
  return returnUrl !== undefined && isHttpUrl(returnUrl) ? returnUrl : null;
}

/**
 * Returns a key for a learner in a lesson: the same for each of their tokens, and without revealing who they are. Each
 * page that records nothing gets a key of its own.
 */
export function learnerKey(token: PlayerToken): string {
  if (token.kind === 'preview' || untrackedBecause(token) !== null) return randomUUID();
  return createHash('sha256').update(learnerName(token)).digest('base64url');
}

const lessThan = '<'.charCodeAt(0);
const escaped = Buffer.from('\\u003c');

/**
 * Escapes JSON for a script element: nothing in it ends the element or begins a comment. JSON has `<` only within
 * strings, so the value stays the same.
 */
function scriptJson(json: Buffer): Buffer {
  let found = 0;
  for (let from = 0; from < json.length; from += 1) if (json[from] === lessThan) found += 1;
  if (found === 0) return json;
  const result = Buffer.allocUnsafe(json.length + found * (escaped.length - 1));
  let to = 0;
  for (let from = 0; from < json.length; from += 1) {
    const byte = json[from] ?? 0;
    if (byte === lessThan) to += escaped.copy(result, to);
    else result[to++] = byte;
  }
  return result;
}
