import type Router from '@koa/router';
import type { RequestState } from '../http/context.ts';
import type { AppDependencies } from '../dependencies.ts';
import { bearer } from '../http/middleware/bearer.ts';
import { renderErrors, shapeB } from '../http/middleware/errors.ts';
import { methodNotAllowed } from '../http/middleware/method-not-allowed.ts';
import { sendExportManifest } from './export-manifest.endpoints.ts';
import { cancelExport, sendExportStatus } from './export-status.endpoints.ts';
import { sendExportZip } from './export-zip.endpoints.ts';
import { createRouter } from '../http/router.ts';

/** The export endpoints: credentials, then path and query, then plan, then existence, then content. */
export function exportRoutes(deps: AppDependencies): Router<RequestState> {
  const router = createRouter('/api/lessons/:lessonId/versions/:versionId');
  router.use(renderErrors(shapeB));
  router.use(bearer(deps, 'User authentication is required'));

  router.get('/export-zip', sendExportZip(deps));
  router.get('/export-manifest', sendExportManifest(deps));
  router.get('/export-status', sendExportStatus(deps));
  router.delete('/export-status', cancelExport(deps));

  router.all(['/export-zip', '/export-manifest'], methodNotAllowed('GET, HEAD'));
  router.all('/export-status', methodNotAllowed('GET, HEAD, DELETE'));
  return router;
}
