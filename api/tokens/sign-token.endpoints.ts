import type Router from '@koa/router';
import { LecternError } from '../../shared/platform/errors.ts';
import { findPublishedVersion } from '../../shared/models/lesson-version.ts';
import { lessonExists } from '../../shared/models/lesson.ts';
import { signEmbedToken } from '../../shared/tokens/player-tokens.ts';
import type { RequestState } from '../http/context.ts';
import type { AppDependencies } from '../dependencies.ts';
import { bearer } from '../http/middleware/bearer.ts';
import { renderErrors, shapeAWith } from '../http/middleware/errors.ts';
import { readJsonBody } from '../http/middleware/json-body.ts';
import { methodNotAllowed } from '../http/middleware/method-not-allowed.ts';
import { parseSignTokenRequest } from '../../shared/tokens/sign-token-request.ts';
import { createRouter } from '../http/router.ts';

const maxBodyBytes = 64 * 1024;

/** Signing of embed tokens (the contract's 4.3): credentials, then body, then existence. */
export function signTokenRoutes(deps: AppDependencies): Router<RequestState> {
  const router = createRouter('/api/public/sign-token');
  router.use(renderErrors(shapeAWith('Failed to generate token')));
  router.use(bearer(deps, 'Authentication failed'));

  router.post('/', async (ctx) => {
    const request = parseSignTokenRequest(await readJsonBody(ctx, { maxBytes: maxBodyBytes }));
    const { timeout, ...claims } = request;
    const organizationId = ctx.state.organization._id;
    const { lessonId, versionId } = claims;
    const known =
      versionId === null
        ? await lessonExists(deps.db, organizationId, lessonId)
        : (await findPublishedVersion(deps.db, organizationId, lessonId, versionId)) !== null;
    if (!known) {
      const message = 'Lesson not found or does not belong to your organization';
      throw new LecternError('NOT_FOUND', message);
    }
    const { token, expiresAt } = signEmbedToken(deps.secrets.signing, { organizationId, ...claims }, timeout);
    ctx.set('Cache-Control', 'no-store');
    ctx.body = { token, expiresAt: expiresAt.toISOString() };
  });

  router.all('/', methodNotAllowed('POST'));
  return router;
}
