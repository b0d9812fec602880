import type Router from '@koa/router';
import type { Context } from 'koa';
import { LecternError } from '../../shared/errors.ts';
import type { RequestState } from '../context.ts';
import type { AppDependencies } from '../dependencies.ts';
import { framePage, framePolicy } from '../embed/frame-page.ts';
import { EncodedFile } from '../encoded-file.ts';
import { anyOrigin } from '../middleware/any-origin.ts';
import { methodNotAllowed } from '../middleware/method-not-allowed.ts';
import { cacheScope, publicAddress } from '../public-address.ts';
import { createRouter } from './router.ts';

const methods = 'GET, HEAD, OPTIONS';
const yearSeconds = 365 * 24 * 3600;
const hourSeconds = 3600;

const types: Record<string, string> = {
  css: 'text/css',
  html: 'text/html',
  js: 'text/javascript',
};

/**
 * The player's files, at addresses that hold the name of its release: what is there once never changes. The script of
 * integrators' pages has an address that stays.
 */
export function playerFileRoutes({ config, player }: AppDependencies): Router<RequestState> {
  const router = createRouter();
  const files = new Map<string, EncodedFile>();
  const sendFile = async (ctx: Context, name: string, cacheControl: string) => {
    const bytes = name === 'frame.html' ? Buffer.from(framePage) : player.files.get(name);
    const type = types[name.split('.').at(-1) ?? ''];
    if (bytes === undefined || type === undefined) throw new LecternError('NOT_FOUND', 'File not found');
    const file = files.get(name) ?? new EncodedFile(bytes);
    files.set(name, file);
    ctx.set('Cache-Control', cacheControl);
    ctx.set('Cross-Origin-Resource-Policy', 'cross-origin');
    await file.send(ctx, type);
  };

  router.use(['/player/:release', '/embed.js'], anyOrigin(methods));
  router.get('/player/:release/:file', async (ctx) => {
    const { release, file = '' } = ctx.params;
    if (release !== player.name) throw new LecternError('NOT_FOUND', 'File not found');
    if (file === 'frame.html') {
      ctx.set('Content-Security-Policy', framePolicy(publicAddress(ctx, config)));
      ctx.set('Referrer-Policy', 'no-referrer');
      // Its policy names the service's address, which the name of a release does not: PUBLIC_URL may change.
      await sendFile(ctx, file, `${cacheScope(config)}, max-age=${hourSeconds}`);
      return;
    }
    await sendFile(ctx, file, `public, max-age=${yearSeconds}, immutable`);
  });
  router.get('/embed.js', (ctx) => sendFile(ctx, 'embed.js', `public, max-age=${hourSeconds}`));
  router.all(['/player/:release/:file', '/embed.js'], methodNotAllowed(methods));
  return router;
}
