import { z } from 'zod';
import type { Config } from '../../shared/platform/config.ts';
import { LecternError } from '../../shared/platform/errors.ts';
import { defineEndpoint, written } from '../http/endpoint.ts';
import { apiErrors, presentError } from '../http/error-format.ts';
import * as example from '../http/examples.ts';
import { markup } from '../../shared/platform/html.ts';
import { publicAccess } from '../http/public-access.ts';
import { cacheScope, publicUrlOf } from '../http/public-url.ts';
import { failure, json } from '../http/responses.ts';
import { playerLessonId } from '../player/authorize.ts';
import { parseUrl } from '../../shared/platform/parse-url.ts';

/** The frame's size in pixels, unless the query limits it. */
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

const oembedQuery = z.object({
  url: z
    .string('url is required')
    .min(1, 'url is required')
    .meta({ description: 'The URL of an embed page.' }),
  format: z.string('format must be json').default('json').meta({ description: '`json` is the only format.' }),
  maxwidth: size('maxwidth'),
  maxheight: size('maxheight'),
});

/** Returns the path and query that describe a lesson's embed page. @param baseUrl the public URL of this service. */
export function oembedPath(baseUrl: string, lessonId: string): string {
  const query = new URLSearchParams({ format: 'json', url: `${baseUrl}/embed/${lessonId}` });
  return `/oembed?${query.toString()}`;
}

const oembedBody = z
  .strictObject({
    version: z.literal('1.0'),
    type: z.literal('rich'),
    provider_name: z.string(),
    provider_url: z.string(),
    title: z.string(),
    width: z.int().min(1).meta({ description: 'Pixels, at most `maxwidth`.' }),
    height: z.int().min(1).meta({ description: 'Pixels, at most `maxheight`.' }),
    html: z.string().meta({ description: 'A frame, without a token.' }),
    cache_age: z.int().meta({ description: 'Seconds.' }),
  })
  .meta({ id: 'Oembed' });

const notFound = 'url is not the URL of an embed page';
const otherFormat = 'Only format=json is available';

/**
 * GET /oembed: describes embed pages for sites that turn links into frames (oEmbed 1.0). It reads no
 * database: the response is the same whether the lesson exists or not.
 */
export const getOembed = defineEndpoint(
  {
    method: 'get',
    path: '/oembed',
    access: publicAccess('GET, OPTIONS'),
    errors: apiErrors(),
    query: oembedQuery,
    operationId: 'getOembed',
    tag: 'Embedding',
    summary: 'Describe an embed page',
    description:
      'oEmbed 1.0, for sites that turn links into frames. The frame has no token, and the response is the same for ' +
      'every lesson id: it does not reveal which lessons exist.',
    responses: {
      200: json(
        'A frame for the page.',
        oembedBody,
        { frame: { value: example.oembed } },
        {
          'Cache-Control': z.enum(['public, max-age=3600', 'private, max-age=3600']).meta({
            description: '`public` if the operator has set PUBLIC_URL.',
          }),
        },
      ),
      404: failure('The URL is not that of an embed page of this service.', notFound),
      501: failure('The query names another format.', otherFormat),
    },
  },
  ({ config }: { config: Pick<Config, 'publicUrl'> }) =>
    ({ ctx, query }) => {
      const { url, format, maxwidth = width, maxheight = height } = query;
      if (format !== 'json') {
        ctx.status = 501;
        ctx.body = presentError('NOT_IMPLEMENTED', otherFormat);
        return written;
      }
      const baseUrl = publicUrlOf(ctx, config);
      const lessonId = lessonIdOf(url, baseUrl);
      if (lessonId === null) throw new LecternError('NOT_FOUND', notFound);
      const frame = { width: Math.min(width, maxwidth), height: Math.min(height, maxheight) };
      ctx.set('Cache-Control', `${cacheScope(config)}, max-age=${cacheSeconds}`);
      return { status: 200, body: describe(`${baseUrl}/embed/${lessonId}`, baseUrl, frame) };
    },
);

function describe(
  page: string,
  baseUrl: string,
  frame: { width: number; height: number },
): z.input<typeof oembedBody> {
  const title = 'Lesson';
  const dimensions = markup`width="${frame.width}" height="${frame.height}"`;
  const style = 'border:0;max-width:100%';
  const { source } =
    markup`<iframe src="${page}" title="${title}" ${dimensions} style="${style}" allow="fullscreen" loading="lazy"></iframe>`;
  return {
    version: '1.0',
    type: 'rich',
    provider_name: 'Lectern',
    provider_url: baseUrl,
    title,
    ...frame,
    html: source,
    cache_age: cacheSeconds,
  };
}

/** Returns the lesson id in the URL of an embed page, with any query; null for every other URL. */
function lessonIdOf(url: string, baseUrl: string): string | null {
  const page = parseUrl(url);
  const pages = parseUrl(`${baseUrl}/embed/`);
  if (page === null || pages === null) return null;
  const withoutQuery = page.origin + page.pathname;
  if (!withoutQuery.startsWith(pages.href)) return null;
  const rest = withoutQuery.slice(pages.href.length).replace(/\/$/, '');
  return playerLessonId.safeParse(rest).data ?? null;
}
