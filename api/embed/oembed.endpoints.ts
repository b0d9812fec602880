import type Router from '@koa/router';
import { z } from 'zod';
import { LecternError } from '../../shared/platform/errors.ts';
import type { RequestState } from '../http/context.ts';
import type { AppDependencies } from '../dependencies.ts';
import { markup } from '../http/html.ts';
import { anyOrigin } from '../http/middleware/public-cors.ts';
import { methodNotAllowed } from '../http/middleware/method-not-allowed.ts';
import { limitByAddress } from '../http/middleware/rate-limit.ts';
import { parseRequest } from '../http/parse-request.ts';
import { playerLessonId } from '../player/authorize.ts';
import { presentError } from '../http/present-error.ts';
import { cacheScope, publicAddress } from '../http/public-url.ts';
import { createRouter } from '../http/router.ts';

const methods = 'GET, OPTIONS';

/** Pixels, unless less is asked for. */
const width = 960;
const height = 640;

const cacheSeconds = 3600;

const size = (name: string) =>
  z
    .string(`${name} must be a whole number above 0`)
    .regex(/^[1-9]\d{0,5}$/, `${name} must be a whole number above 0`)
    .transform(Number)
    .optional()
    .meta({ description: 'Pixels.' });

export const oembedQuery = z.object({
  url: z
    .string('url is required')
    .min(1, 'url is required')
    .meta({ description: 'The address of an embed page.' }),
  format: z
    .string('format must be json')
    .default('json')
    .meta({ description: '`json`; no other one is made.' }),
  maxwidth: size('maxwidth'),
  maxheight: size('maxheight'),
});

/** Where a lesson's embed page is described. @param address that of this service, as clients know it. */
export function oembedPath(address: string, lessonId: string): string {
  const query = new URLSearchParams({ format: 'json', url: `${address}/embed/${lessonId}` });
  return `/oembed?${query.toString()}`;
}

/**
 * Describes embed pages for sites that turn links into frames (oEmbed 1.0). The frame that it gives has no token, and
 * nothing is looked up: the answer for a lesson that there is says no more than for one that there is not.
 */
export function oembedRoutes(deps: AppDependencies): Router<RequestState> {
  const router = createRouter();
  router.use('/oembed', anyOrigin(methods), limitByAddress(deps));
  router.get('/oembed', (ctx) => {
    const query = parseRequest(oembedQuery, ctx.query, 'BAD_REQUEST');
    const { url, format, maxwidth = width, maxheight = height } = query;
    if (format !== 'json') {
      ctx.status = 501;
      ctx.body = presentError('Only format=json is available');
      return;
    }
    const address = publicAddress(ctx, deps.config);
    const lessonId = lessonIdOf(url, address);
    if (lessonId === null) throw new LecternError('NOT_FOUND', 'url is not the address of an embed page');
    const frame = { width: Math.min(width, maxwidth), height: Math.min(height, maxheight) };
    ctx.set('Cache-Control', `${cacheScope(deps.config)}, max-age=${cacheSeconds}`);
    ctx.body = describe(`${address}/embed/${lessonId}`, address, frame);
  });
  router.all('/oembed', methodNotAllowed(methods));
  return router;
}

function describe(page: string, address: string, frame: { width: number; height: number }) {
  const title = 'Lesson';
  const dimensions = markup`width="${frame.width}" height="${frame.height}"`;
  const style = 'border:0;max-width:100%';
  const { source } =
    markup`<iframe src="${page}" title="${title}" ${dimensions} style="${style}" allow="fullscreen" loading="lazy"></iframe>`;
  return {
    version: '1.0',
    type: 'rich',
    provider_name: 'Lectern',
    provider_url: address,
    title,
    ...frame,
    html: source,
    cache_age: cacheSeconds,
  };
}

/** The lesson of an embed page's address, whatever its query says; null for every other address. */
function lessonIdOf(url: string, address: string): string | null {
  const pages = `${address}/embed/`;
  if (!URL.canParse(url) || !URL.canParse(pages)) return null;
  const { origin, pathname } = new URL(url);
  const { href } = new URL(pages);
  if (!(origin + pathname).startsWith(href)) return null;
  const rest = (origin + pathname).slice(href.length).replace(/\/$/, '');
  return playerLessonId.safeParse(rest).data ?? null;
}
