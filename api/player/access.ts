import { z } from 'zod';
import type { Database } from '../../shared/models/database.ts';
import type { Secrets } from '../../shared/platform/secrets.ts';
import type { PlayerToken } from '../../shared/tokens/player-tokens.ts';
import type { Access } from '../http/endpoint.ts';
import { forPlayers, noStore as noStoreHeader } from '../http/headers.ts';
import { limitByIp, tooManyRequests } from '../http/middleware/rate-limit.ts';
import type { RateLimits } from '../http/middleware/rate-limit.ts';
import { addToRequestLine } from '../http/middleware/request-context.ts';
import { noStore } from '../http/middleware/response-headers.ts';
import { publicCors } from '../http/middleware/cors.ts';
import { failure } from '../http/responses.ts';
import { LecternError } from '../../shared/platform/errors.ts';
import { tokenFailure } from '../../shared/tokens/player-tokens.ts';
import { erasedText, otherLessonText, playerFacts, playerLessonId, verifyToken } from './authorize.ts';
import type { TokenUses } from './token-uses.ts';

export const lessonParams = z.object({ lessonId: playerLessonId });

const erased = failure('The data of the learner were erased after the token was signed.', erasedText);

const otherLesson = failure('The token is for a different lesson than the one in the path.', otherLessonText);

/**
 * Returns access with a learner's token in the query, for pages of every origin. The order of checks: the lesson id and
 * the query (400), the token (401), and the lesson of the token (403).
 *
 * @param methods the methods for CORS, such as "GET, OPTIONS".
 * @param options.uncached whether caches must not store failures either.
 * @param options.reportsErasure whether a learner whose data were erased gets 410, with which the player removes what it
 * has stored in the browser; otherwise 401.
 */
export function playerToken(
  methods: string,
  { uncached = false, reportsErasure = false } = {},
): Access<
  {
    db: Database;
    secrets: Pick<Secrets, 'signing' | 'keyPepper'>;
    rateLimits: RateLimits;
    tokenUses: TokenUses;
  },
  PlayerToken,
  { lessonId: string },
  { token: string }
> {
  return {
    security: [{ token: [] }],
    headers: { ...forPlayers(methods), ...(uncached && noStoreHeader) },
    preflight: true,
    failures: {
      401: failure(
        'The token has expired, was revoked, is malformed, or was not signed by this service.',
        ...[
          'Token expired',
          'Token issued in the future',
          'Token valid for too long',
          'Invalid signature',
          'Malformed token',
          'Invalid issuer',
          'Token revoked',
          'Signing secret not configured',
        ].map((reason) => `Token verification failed: ${reason}`),
      ),
      403: otherLesson,
      ...(reportsErasure && { 410: erased }),
      429: tooManyRequests,
    },
    middleware: (deps) => [publicCors(methods), ...(uncached ? [noStore] : []), limitByIp(deps)],
    async identify(deps, { ctx, params, query }) {
      const token = await verifyToken(deps, params.lessonId, query.token).catch((error: unknown) => {
        const isErased = error instanceof LecternError && error.code === 'GONE';
        throw isErased && !reportsErasure ? tokenFailure('Token revoked') : error;
      });
      addToRequestLine(ctx, playerFacts(deps.secrets, token));
      deps.tokenUses.record(ctx, token, query.token);
      return token;
    },
  };
}
