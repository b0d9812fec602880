import type Router from '@koa/router';
import type { RequestState } from '../../http/context.ts';
import type { AppDependencies } from '../../dependencies.ts';
import { EncodedFile } from '../../http/encoded-file.ts';
import { methodNotAllowed } from '../../http/middleware/method-not-allowed.ts';
import { limitByAddress } from '../../http/middleware/rate-limit.ts';
import { publicPath } from '../../http/public-url.ts';
import { findDemoLink } from './demo-link.ts';
import { favicon } from './favicon.ts';
import { startPage, startPagePolicy } from './page.ts';
import { createServiceState } from './service-state.ts';
import { createRouter } from '../../http/router.ts';

const daySeconds = 24 * 3600;

/** What stands at the address of the service itself: for people a page, for programs the same in JSON. */
export function startPageRoutes(deps: AppDependencies): Router<RequestState> {
  const router = createRouter();
  const base = publicPath(deps.config);
  const readState = createServiceState(deps);
  const icon = new EncodedFile(Buffer.from(favicon));

  router.get('/', limitByAddress(deps), async (ctx) => {
    ctx.set('Cache-Control', 'no-store');
    ctx.vary('Accept');
    const status = await readState();
    const [docs, openapi] = [`${base}/docs`, `${base}/openapi.json`];
    if (ctx.accepts('html', 'json') === 'json') {
      ctx.body = { name: 'Lectern', status, docs, openapi };
      return;
    }
    ctx.set('Content-Security-Policy', startPagePolicy);
    ctx.set('Referrer-Policy', 'no-referrer');
    ctx.type = 'html';
    ctx.body = startPage(status, {
      ...{ docs, openapi },
      favicon: `${base}/favicon.svg`,
      queueBoard: deps.config.admin === undefined ? null : `${base}/admin/queues`,
      demoLesson: status === 'unavailable' ? null : await findDemoLink(deps, ctx),
    });
  });

  // Browsers ask for the second by themselves, and go by the type, not by the name.
  router.get(['/favicon.svg', '/favicon.ico'], async (ctx) => {
    ctx.set('Cache-Control', `public, max-age=${daySeconds}`);
    ctx.set('Content-Security-Policy', "default-src 'none'; style-src 'unsafe-inline'; sandbox");
    await icon.send(ctx, 'image/svg+xml');
  });

  router.all(['/', '/favicon.svg', '/favicon.ico'], methodNotAllowed('GET, HEAD'));
  return router;
}
