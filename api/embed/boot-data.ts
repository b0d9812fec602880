import { createHash, randomUUID } from 'node:crypto';
import type { Catalog } from '../../shared/i18n/message.ts';
import { withStatus } from '../../shared/lessons/player-lesson.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import type { LaunchToken, PlayerToken } from '../../shared/tokens/player-tokens.ts';
import type { PreparedLesson } from '../../shared/player/prepared-lessons.ts';
import { printJson } from '../../shared/platform/raw-json.ts';
import { isHttpUrl } from '../../shared/platform/parse-url.ts';
import { learnerName } from '../player/session.ts';

/** Why a page shows no lesson, for support. Each has the messages `embed.<code>.title` and `embed.<code>.text`. */
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
 * What the script of an embed page begins with, as JSON in the page itself: no further request stands between the page
 * and the first step of the lesson. It is sent as pieces of UTF-8, for a lesson is copied and never parsed.
 */
export type BootData = Buffer[];

/** Of a page that shows no lesson. */
export type NoticeBoot =
  | { page: 'waiting'; lessonId: string; allowedOrigins: null }
  | { page: 'failure'; lessonId: string | null; code: FailureCode; allowedOrigins: null };

/** Of a page that shows a lesson; `session` and `lesson` stand beside these. Addresses are absolute or paths. */
export interface LessonBoot {
  page: 'lesson';
  lessonId: string;
  versionId: string;
  title: string;
  /** A BCP 47 tag. */
  language: string;
  /** The time of this server. */
  now: Date;
  token: { expiresAt: Date };
  /** Stands for the learner where the browser keeps what is not saved yet. */
  learner: string;
  /** Where media and widgets are. */
  content: { base: string; expiresAt: Date };
  /** Types of custom widgets in the version that have a stylesheet; null where only asking for one can tell. */
  styledWidgets: string[] | null;
  /** Where progress is saved, and where another address for `content` comes from; both take the token. */
  sessionUrl: string;
  contentUrl: string;
  /** The document that plays the lesson, in an origin of its own. */
  frameUrl: string;
  /** Whose pages may have this one in a frame; null for any. */
  allowedOrigins: readonly string[] | null;
  /** The messages of the page's script, in the page's language; it needs them without a network too. */
  messages: Catalog;
  /** Why nothing is recorded; null where it is. */
  untracked: Untracked | null;
  /** What is different after an LTI launch; null without one. */
  launch: LaunchBoot | null;
}

/** A launch says why nothing of it is recorded; `authorPreview` is the reason of a preview token. */
type Untracked = NonNullable<LaunchToken['untracked']> | 'authorPreview';

export interface LaunchBoot {
  /** Where the course is; null where the platform does not say. */
  returnUrl: string | null;
}

export function noticeBoot(boot: NoticeBoot): BootData {
  return [scriptJson(Buffer.from(JSON.stringify(boot)))];
}

/** @param session its members, some of which may be raw. */
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

/** Why nothing of the bearer of a token is recorded; null where it is. */
export function untrackedBecause(token: PlayerToken): Untracked | null {
  if (token.kind === 'preview') return 'authorPreview';
  return token.kind === 'launch' ? (token.untracked ?? null) : null;
}

export function launchBoot(token: PlayerToken): LaunchBoot | null {
  if (token.kind !== 'launch') return null;
  return { returnUrl: wayBack(token) };
}

/** The address of the course that a launch came from; null where the platform gives none, or none for a browser. */
export function wayBack({ returnUrl }: Pick<LaunchToken, 'returnUrl'>): string | null {
  return returnUrl !== undefined && isHttpUrl(returnUrl) ? returnUrl : null;
}

/**
 * The same for one learner in one lesson, whichever token it is, and no name of anybody. Where nothing is recorded
 * each page is by itself.
 */
export function learnerKey(token: PlayerToken): string {
  if (token.kind === 'preview' || untrackedBecause(token) !== null) return randomUUID();
  return createHash('sha256').update(learnerName(token)).digest('base64url');
}

const lessThan = '<'.charCodeAt(0);
const escaped = Buffer.from('\\u003c');

/**
 * JSON that can stand in a script element: nothing in it ends the element, or begins a comment there. Outside of
 * strings JSON has no `<`, so the value stays the same.
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
