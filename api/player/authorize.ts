import { z } from 'zod';
import { LecternError } from '../../shared/platform/errors.ts';
import { findPlayedVersion, findPreviewedVersion } from '../../shared/models/lesson-version.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { isRevoked } from '../../shared/models/token-revocation.ts';
import { tokenFailure, verifyPlayerToken } from '../../shared/tokens/player-tokens.ts';
import type { PlayerToken } from '../../shared/tokens/player-tokens.ts';
import type { AppDependencies } from '../dependencies.ts';
import { parseRequest } from '../http/parse-request.ts';

/** The query of every address that a player's token authorizes. */
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

export interface PlayerRequest<Query> {
  lessonId: string;
  query: Query;
  token: PlayerToken;
}

/**
 * The first checks of a player's request, in the contract's order: the lesson id and the query (400), the token
 * (401), and that the token is for this lesson (403).
 *
 * @throws {LecternError} BAD_REQUEST, UNAUTHORIZED, FORBIDDEN, with the texts of the contract's 7.3.
 */
export async function readPlayerRequest<Schema extends z.ZodType<{ token: string }>>(
  { db, secrets }: Pick<AppDependencies, 'db' | 'secrets'>,
  lessonIdParam: unknown,
  query: unknown,
  schema: Schema,
): Promise<PlayerRequest<z.output<Schema>>> {
  const lessonId = parseRequest(playerLessonId, lessonIdParam, 'BAD_REQUEST');
  const parameters = parseRequest(schema, query, 'BAD_REQUEST');
  const token = verifyPlayerToken(secrets.signing, parameters.token);
  if (await isRevoked(db, { ...token, learnerId: learnerOf(token) })) throw tokenFailure('Token revoked');
  if (token.lessonId !== lessonId) {
    throw new LecternError('FORBIDDEN', 'Token does not grant access to this lesson');
  }
  return { lessonId, query: parameters, token };
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
  db: AppDependencies['db'],
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
  if (version === null) throw nothingToPlay();
  return version;
}

/** Refuses a token that nothing is ever recorded with. @throws {LecternError} FORBIDDEN for a preview token. */
export function assertRecords({ kind }: Pick<PlayerToken, 'kind'>): void {
  if (kind === 'preview') throw new LecternError('FORBIDDEN', 'A preview token records nothing');
}

function nothingToPlay(): LecternError {
  return new LecternError('NOT_FOUND', 'Lesson not found or access denied');
}

/**
 * The published version that a page plays on, though another one was published since: the token's own, or any of the
 * lesson where it pins none.
 *
 * @param versionId left out for the one of {@link findTokenVersion}.
 * @throws {LecternError} NOT_FOUND as there, and for a version that the token does not let its bearer play.
 */
export async function findVersionInPlay(
  db: AppDependencies['db'],
  token: PlayerToken,
  versionId = token.versionId,
): Promise<LessonVersion> {
  if (token.versionId !== null && versionId !== token.versionId) throw nothingToPlay();
  return findTokenVersion(db, { ...token, versionId });
}

/** Both of the above, for addresses whose query holds the token alone. */
export async function authorizePlayer(
  deps: Pick<AppDependencies, 'db' | 'secrets'>,
  lessonIdParam: unknown,
  query: unknown,
): Promise<{ token: PlayerToken; version: LessonVersion }> {
  const { token } = await readPlayerRequest(deps, lessonIdParam, query, playerQuerySchema);
  return { token, version: await findTokenVersion(deps.db, token) };
}
