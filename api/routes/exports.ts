import type Router from '@koa/router';
import { z } from 'zod';
import { LecternError } from '../../shared/errors.ts';
import { withPlayer } from '../../shared/jobs.ts';
import { findPublishedVersion } from '../../shared/models/lesson-version.ts';
import { playerRelease } from '../../shared/player-release.ts';
import type { AppDependencies } from '../dependencies.ts';
import type { RequestState } from '../context.ts';
import { requestArchive } from '../exports/archive-requests.ts';
import { sendFile } from '../assets/send-file.ts';
import { bearer } from '../middleware/bearer.ts';
import { renderErrors, shapeB } from '../middleware/errors.ts';
import { methodNotAllowed } from '../middleware/method-not-allowed.ts';
import { createRouter } from './router.ts';

const uuid = (name: string) =>
  z
    .guid(`Invalid ${name} ID`)
    .transform((id) => id.toLowerCase())
    .meta({ description: `Id of the ${name}.` });
export const exportPath = z.object({ lessonId: uuid('lesson'), versionId: uuid('version') });
export const exportQuery = z.object({
  include: z
    .literal('player', 'include must be "player", or be left out')
    .optional()
    .meta({
      description:
        '`player`: the archive also holds the player, and plays when its index.html is opened. Anything else is ' +
        'refused.',
    }),
});

/** The export endpoints: credentials, then path and query, then plan, then existence, then content. */
export function exportRoutes(deps: AppDependencies): Router<RequestState> {
  const router = createRouter('/api/lessons/:lessonId/versions/:versionId');
  router.use(renderErrors(shapeB));
  router.use(bearer(deps, 'User authentication is required'));

  router.get('/export-zip', async (ctx) => {
    const path = exportPath.safeParse(ctx.params);
    if (!path.success) throw badRequest(path.error);
    const query = exportQuery.safeParse(ctx.query);
    if (!query.success) throw badRequest(query.error);
    const { organization, signal } = ctx.state;
    if (organization.plan !== 'edtech') {
      throw new LecternError('FEATURE_NOT_AVAILABLE', 'Export is not available on your plan');
    }
    const version = await findPublishedVersion(
      deps.db,
      organization._id,
      path.data.lessonId,
      path.data.versionId,
    );
    if (version === null) throw new LecternError('NOT_FOUND', 'Published version not found');
    if (version.problems.length > 0) {
      throw new LecternError(
        'INVALID_CONTENT',
        `The lesson cannot be exported: ${version.problems.join('; ')}`,
      );
    }

    const profile = query.data.include === undefined ? 'plain' : withPlayer((await playerRelease()).name);
    const archive = await requestArchive(deps.exports, version, { profile, signal });
    await sendFile(ctx, archive, archive.sha256);
    ctx.attachment(`${version.slug}-v${version.versionNumber}.zip`);
    if (ctx.status !== 304) ctx.type = 'application/zip';
  });

  router.all('/export-zip', methodNotAllowed('GET, HEAD'));
  return router;
}

function badRequest(error: z.ZodError): LecternError {
  return new LecternError('BAD_REQUEST', error.issues[0]?.message ?? 'Bad request');
}
