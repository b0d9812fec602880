import type Router from '@koa/router';
import type { Context } from 'koa';
import { LecternError } from '../../shared/platform/errors.ts';
import type { RequestState } from '../http/context.ts';
import type { AppDependencies } from '../dependencies.ts';
import { framePolicy } from '../embed/frame-page.ts';
import { anyOrigin } from '../http/middleware/public-cors.ts';
import { methodNotAllowed } from '../http/middleware/method-not-allowed.ts';
import { cacheScope, publicAddress } from '../http/public-url.ts';
import { createRouter } from '../http/router.ts';

const methods = 'GET, HEAD, OPTIONS';
const yearSeconds = 365 * 24 * 3600;
const hourSeconds = 3600;

const types: Record<string, string> = {
  css: 'text/css',
  html: 'text/html',
  js: 'text/javascript',
};

/**
 * The player's files, at addresses that hold the name of its release: what is there once never changes. Those of other
 * releases are served too: pages of theirs may ask this process while an installation is upgraded. The script of
 * integrators' pages has an address that stays.
 */
export function playerFileRoutes({ config, player }: AppDependencies): Router<RequestState> {
  const router = createRouter();
  const sendFile = async (ctx: Context, release: string, name: string, cacheControl: string) => {
    const type = types[name.split('.').at(-1) ?? ''];
    const file = type === undefined ? null : await player.find(release, name);
    if (file === null || type === undefined) throw new LecternError('NOT_FOUND', 'File not found');
    ctx.set('Cache-Control', cacheControl);
    ctx.set('Cross-Origin-Resource-Policy', 'cross-origin');
    await file.send(ctx, type);
  };

  router.use(['/player/:release', '/embed.js'], anyOrigin(methods));
  router.get('/player/:release/:file', async (ctx) => {
    const { release = '', file = '' } = ctx.params;
    if (file === 'frame.html') {
      ctx.set('Content-Security-Policy', framePolicy(publicAddress(ctx, config)));
      ctx.set('Referrer-Policy', 'no-referrer');
      // Its policy names the service's address, which the name of a release does not: PUBLIC_URL may change.
      await sendFile(ctx, release, file, `${cacheScope(config)}, max-age=${hourSeconds}`);
      return;
    }
    await sendFile(ctx, release, file, `public, max-age=${yearSeconds}, immutable`);
  });
  router.get('/embed.js', (ctx) => sendFile(ctx, player.name, 'embed.js', `public, max-age=${hourSeconds}`));
  router.all(['/player/:release/:file', '/embed.js'], methodNotAllowed(methods));
  return router;
}
