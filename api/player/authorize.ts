import { z } from 'zod';
import { LecternError } from '../../shared/platform/errors.ts';
import type { Database } from '../../shared/models/database.ts';
import { findPlayedVersion, findPreviewedVersion } from '../../shared/models/lesson-version.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { isRevoked } from '../../shared/models/token-revocation.ts';
import { tokenFailure, verifyPlayerToken } from '../../shared/tokens/player-tokens.ts';
import type { PlayerToken } from '../../shared/tokens/player-tokens.ts';
import type { Secrets } from '../../shared/platform/secrets.ts';
import { failure } from '../http/responses.ts';

export const otherLessonText = 'Token does not grant access to this lesson';
export const nothingToPlayText = 'Lesson not found or access denied';
export const nothingToPlay = failure(
  "The lesson does not exist, is deleted or another organization's, or nothing is published: no version, or the " +
    'pinned one no more.',
  nothingToPlayText,
);
export const previewText = 'A preview token records nothing';

/** The query of every endpoint that a player's token authorizes. */
export const playerQuerySchema = z.object({
  token: z
    .string('token is required')
    .min(1, 'token is required')
    .meta({ description: 'The JWT of the learner, from `POST /api/public/sign-token`.' }),
});

export const playerLessonId = z
  .guid('Invalid lesson ID')
  .toLowerCase()
  .meta({ description: 'Id of the lesson; the one that the token is for.' });

/** What {@link verifyToken} works with. */
export interface TokenDependencies {
  db: Database;
  secrets: Pick<Secrets, 'signing'>;
}

/**
 * Returns the contents of a token that is good for a lesson.
 *
 * @throws {LecternError} UNAUTHORIZED for a token that is not valid, FORBIDDEN for one of another lesson.
 */
export async function verifyToken(
  { db, secrets }: TokenDependencies,
  lessonId: string,
  text: string,
): Promise<PlayerToken> {
  const token = verifyPlayerToken(secrets.signing, text);
  if (await isRevoked(db, { ...token, learnerId: learnerOf(token) })) throw tokenFailure('Token revoked');
  if (token.lessonId !== lessonId) {
    throw new LecternError('FORBIDDEN', otherLessonText);
  }
  return token;
}

/** Under which id tokens of its bearer are revoked; null for a preview, which stands for no learner. */
function learnerOf(token: PlayerToken): string | null {
  if (token.kind === 'preview') return null;
  return token.kind === 'embed' ? token.learnerId : token.ltiUserId;
}

/**
 * The version that a token lets its bearer play now: a published one, or with a preview token the draft that it names.
 *
 * @throws {LecternError} NOT_FOUND when the lesson is deleted or another organization's, or nothing is published.
 */
export async function findTokenVersion(
  db: Database,
  {
    kind,
    organizationId,
    lessonId,
    versionId,
  }: Pick<PlayerToken, 'kind' | 'organizationId' | 'lessonId' | 'versionId'>,
): Promise<LessonVersion> {
  const version =
    kind === 'preview' && versionId !== null
      ? await findPreviewedVersion(db, organizationId, lessonId, versionId)
      : await findPlayedVersion(db, organizationId, lessonId, versionId);
  if (version === null) throw nothingPlayable();
  return version;
}

/** Refuses a token that nothing is ever recorded with. @throws {LecternError} FORBIDDEN for a preview token. */
export function assertRecords({ kind }: Pick<PlayerToken, 'kind'>): void {
  if (kind === 'preview') throw new LecternError('FORBIDDEN', previewText);
}

function nothingPlayable(): LecternError {
  return new LecternError('NOT_FOUND', nothingToPlayText);
}

/**
 * The published version that a page plays on, though another one was published since: the token's own, or any of the
 * lesson where it pins none.
 *
 * @param versionId left out for the one of {@link findTokenVersion}.
 * @throws {LecternError} NOT_FOUND as there, and for a version that the token does not let its bearer play.
 */
export async function findVersionInPlay(
  db: Database,
  token: PlayerToken,
  versionId = token.versionId,
): Promise<LessonVersion> {
  if (token.versionId !== null && versionId !== token.versionId) throw nothingPlayable();
  return findTokenVersion(db, { ...token, versionId });
}
