import { z } from 'zod';
import { LecternError } from '../../shared/platform/errors.ts';
import type { Database } from '../../shared/models/database.ts';
import { findPlayedVersion, findPreviewedVersion } from '../../shared/models/lesson-version.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { findRevocation } from '../../shared/models/token-revocation.ts';
import { pseudonymOf } from '../../shared/tokens/learner-subject.ts';
import type { RequestFacts } from '../http/middleware/request-context.ts';
import { learnerOfToken, tokenFailure, verifyPlayerToken } from '../../shared/tokens/player-tokens.ts';
import type { PlayerToken } from '../../shared/tokens/player-tokens.ts';
import type { Secrets } from '../../shared/platform/secrets.ts';
import { failure } from '../http/responses.ts';

export const otherLessonText = 'Token does not grant access to this lesson';
export const nothingToPlayText = 'Lesson not found or access denied';
export const nothingToPlay = failure(
  "The lesson does not exist, is deleted or another organization's, or has no published version; or the pinned " +
    'version is no longer published.',
  nothingToPlayText,
);
export const erasedText = 'The data of this learner were erased';
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

export interface TokenDependencies {
  db: Database;
  secrets: Pick<Secrets, 'signing' | 'keyPepper'>;
}

/**
 * Verifies a token and returns its contents.
 *
 * @throws {LecternError} UNAUTHORIZED for an invalid token, FORBIDDEN for a token of another lesson, GONE if the data of
 * its learner were erased after it was signed.
 */
export async function verifyToken(
  deps: TokenDependencies,
  lessonId: string,
  text: string,
): Promise<PlayerToken> {
  const token = verifyPlayerToken(deps.secrets.signing, text);
  await assertNotRevoked(deps, token);
  if (token.lessonId !== lessonId) {
    throw new LecternError('FORBIDDEN', otherLessonText);
  }
  return token;
}

/** Returns what the log says about the bearer of a token. */
export function playerFacts({ keyPepper }: Pick<Secrets, 'keyPepper'>, token: PlayerToken): RequestFacts {
  const learner = learnerOfToken(token);
  return {
    organization: token.organizationId,
    ...(learner !== null && { learner: pseudonymOf(keyPepper, learner) }),
  };
}

/** @throws {LecternError} UNAUTHORIZED for a revoked token; GONE if the data of its learner were erased. */
export async function assertNotRevoked(
  { db, secrets }: Pick<TokenDependencies, 'db'> & { secrets: Pick<Secrets, 'keyPepper'> },
  token: PlayerToken,
): Promise<void> {
  const { organizationId, lessonId, issuedAt } = token;
  const learner = learnerOfToken(token);
  const revocation = await findRevocation(db, secrets.keyPepper, {
    organizationId,
    lessonId,
    issuedAt,
    learner,
  });
  if (revocation === 'revoked') throw tokenFailure('Token revoked');
  if (revocation === 'erased') throw new LecternError('GONE', erasedText);
}

/**
 * Returns the version that a token can play now: a published one, or the draft of a preview token.
 *
 * @throws {LecternError} NOT_FOUND if the lesson is deleted or another organization's, or nothing is published.
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

/** Rejects writes of previews. @throws {LecternError} FORBIDDEN for a preview token. */
export function assertNotPreview({ kind }: Pick<PlayerToken, 'kind'>): void {
  if (kind === 'preview') throw new LecternError('FORBIDDEN', previewText);
}

function nothingPlayable(): LecternError {
  return new LecternError('NOT_FOUND', nothingToPlayText);
}

/**
 * Returns the version that a page plays, even if another one was published since: the one that the token pins, or any
 * published version if it pins none.
 *
 * @param versionId defaults to the version of {@link findTokenVersion}.
 * @throws {LecternError} NOT_FOUND as {@link findTokenVersion}, and for a version that the token cannot play.
 */
export async function findVersionInPlay(
  db: Database,
  token: PlayerToken,
  versionId = token.versionId,
): Promise<LessonVersion> {
  if (token.versionId !== null && versionId !== token.versionId) throw nothingPlayable();
  return findTokenVersion(db, { ...token, versionId });
}

/** Returns a name for a learner's record in a lesson. Previews have no record, and get a name for each link. */
export function learnerName(token: PlayerToken): string {
  const { kind, organizationId, lessonId } = token;
  return JSON.stringify([kind, organizationId, lessonId, ...learnerOf(token)]);
}

function learnerOf(token: PlayerToken): (string | number | null)[] {
  switch (token.kind) {
    case 'embed':
      return [token.learnerId];
    case 'launch':
      return [token.platformId, token.contextId, token.ltiUserId];
    case 'preview':
      return [token.versionId, token.issuedAt];
  }
}
