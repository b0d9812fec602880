import type Router from '@koa/router';
import { isContentAddress } from '../../shared/media/content-urls.ts';
import { LecternError } from '../../shared/platform/errors.ts';
import { findPreviewOfContent, findVersionOfContent } from '../../shared/models/lesson-version.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { versionFiles } from './version-files.ts';
import type { RequestState } from '../http/context.ts';
import type { AppDependencies } from '../dependencies.ts';
import { anyOrigin } from '../http/middleware/public-cors.ts';
import { methodNotAllowed } from '../http/middleware/method-not-allowed.ts';
import { noStore } from '../http/middleware/no-store.ts';
import { limitByAddress } from '../http/middleware/rate-limit.ts';
import { createRouter } from '../http/router.ts';

const methods = 'GET, HEAD, OPTIONS';

/** Media and widgets of a version for whoever has its signed address: the page that plays it, which has no token. */
export function contentRoutes(deps: AppDependencies): Router<RequestState> {
  const router = createRouter('/content/v1/:lessonId/:versionId/:expires/:signature');
  const files = versionFiles(deps);

  router.use(anyOrigin(methods), noStore, limitByAddress(deps));
  router.get('/media/:mediaId', async (ctx) => {
    await files.sendMedium(ctx, await findSigned(deps, ctx.params), ctx.params.mediaId, endOf(ctx.params));
  });
  router.get('/widgets/:file', async (ctx) => {
    await files.sendWidget(ctx, await findSigned(deps, ctx.params), ctx.params.file, endOf(ctx.params));
  });
  router.all(['/media/:mediaId', '/widgets/:file'], methodNotAllowed(methods));
  return router;
}

/** When a good address expires. What it leads to ends with it, or the two would add up after a revocation. */
function endOf({ expires }: Record<string, string | undefined>): Date {
  return new Date(Number(expires) * 1000);
}

/** @throws {LecternError} FORBIDDEN for another address than was given out; NOT_FOUND for what may not be played now. */
async function findSigned(
  { db, secrets }: Pick<AppDependencies, 'db' | 'secrets'>,
  { lessonId = '', versionId = '', expires = '', signature = '' }: Record<string, string | undefined>,
): Promise<LessonVersion> {
  const given = { lessonId, versionId, expires, signature };
  const preview = isContentAddress(secrets.asset, { ...given, preview: true });
  if (!preview && !isContentAddress(secrets.asset, given)) {
    throw new LecternError('FORBIDDEN', 'Invalid or expired signature');
  }
  const find = preview ? findPreviewOfContent : findVersionOfContent;
  const version = await find(db, lessonId, versionId);
  if (version === null) throw new LecternError('NOT_FOUND', 'Lesson not found or access denied');
  return version;
}
