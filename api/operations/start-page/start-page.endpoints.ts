import { z } from 'zod';
import type { Config } from '../../../shared/platform/config.ts';
import { palettes } from '../../../shared/theme/tokens.ts';
import { EncodedFile } from '../../http/encoded-file.ts';
import { defineEndpoint, written } from '../../http/endpoint.ts';
import { apiErrors } from '../../http/error-format.ts';
import { limited } from '../../http/headers.ts';
import { limitedAccess, openAccess } from '../../http/public-access.ts';
import { publicPath } from '../../http/public-url.ts';
import { empty } from '../../http/responses.ts';
import { findDemoLink } from './demo-link.ts';
import type { DemoLinkDependencies } from './demo-link.ts';
import { startPage, startPagePolicy } from './page.ts';
import { createServiceState } from './service-state.ts';
import type { ServiceStateDependencies } from './service-state.ts';

/** A lectern with an open book, for light and dark tabs. */
const favicon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">
<style>path{fill:none;stroke:${palettes.light.accent};stroke-width:2.5;stroke-linecap:round;stroke-linejoin:round}
@media (prefers-color-scheme:dark){path{stroke:${palettes.dark.accent}}}</style>
<path d="M16 9C12.5 6.5 8 6 3.5 6.5v11C8 17 12.5 17.500 16 20c3.500-2.500 8-3 12.500-2.500v-11C24 6 19.500 6.500 16 9zm0 0v11m0 2v6m-6 0h12"/>
</svg>
`;

const serviceState = z.strictObject({
  name: z.literal('Lectern'),
  status: z.enum(['ok', 'no_workers', 'degraded', 'unavailable']).meta({
    description:
      '`no_workers`: lessons play, but exports wait and no grades are sent. `degraded`, `unavailable`: as in ' +
      '`/health/ready`.',
  }),
  docs: z.string().meta({ description: 'Path of the API reference.' }),
  openapi: z.string().meta({ description: 'Path of the OpenAPI document.' }),
});

const common = { method: 'get', errors: apiErrors(), tag: 'Service' } as const;

/** GET /: the service's state and links to its documentation, as a page or in JSON. */
export const getStartPage = defineEndpoint(
  {
    ...common,
    path: '/',
    access: limitedAccess,
    operationId: 'getStartPage',
    summary: 'Get the start page and the state',
    description:
      'A page for people; with `Accept: application/json`, JSON for programs. The state is cached for up to 3 ' +
      'seconds. The status is always 200: point load balancers at `/health/ready`.',
    responses: {
      200: {
        kind: 'json',
        description: 'The state, and links to the documentation.',
        schema: serviceState,
        examples: {
          ready: { value: { name: 'Lectern', status: 'ok', docs: '/docs', openapi: '/openapi.json' } },
        },
        headers: {
          ...limited,
          'Cache-Control': z.literal('no-store'),
          Vary: z.string().meta({ examples: ['Accept'] }),
        },
        alternatives: { 'text/html': { schema: { type: 'string' } } },
      },
    },
  },
  (deps: ServiceStateDependencies & DemoLinkDependencies & { config: Pick<Config, 'admin' | 'console'> }) => {
    const base = publicPath(deps.config);
    const readState = createServiceState(deps);
    return async ({ ctx }) => {
      ctx.set('Cache-Control', 'no-store');
      ctx.vary('Accept');
      const status = await readState();
      const [docs, openapi] = [`${base}/docs`, `${base}/openapi.json`];
      if (ctx.accepts('html', 'json') === 'json') {
        return { status: 200, body: { name: 'Lectern', status, docs, openapi } };
      }
      ctx.set('Content-Security-Policy', startPagePolicy);
      ctx.set('Referrer-Policy', 'no-referrer');
      ctx.type = 'html';
      ctx.body = startPage(status, {
        docs,
        openapi,
        favicon: `${base}/favicon.svg`,
        console: deps.config.console ? `${base}/console` : null,
        queueBoard: deps.config.admin === undefined ? null : `${base}/admin/queues`,
        demoLesson: status === 'unavailable' ? null : await findDemoLink(deps, ctx),
      });
      return written;
    };
  },
);

const daySeconds = 24 * 3600;
const iconHeaders = {
  ETag: z.string(),
  'Cache-Control': z.string().meta({ examples: ['public, max-age=300'] }),
  Vary: z.string().meta({ examples: ['Accept-Encoding'] }),
};
const icon = new EncodedFile(Buffer.from(favicon));

const iconAt = (path: string, operationId: string) =>
  defineEndpoint(
    {
      ...common,
      path,
      access: openAccess,
      operationId,
      summary: 'Fetch the icon of the service',
      responses: {
        200: {
          kind: 'written',
          description: 'An SVG.',
          headers: iconHeaders,
          content: { 'image/svg+xml': { schema: { type: 'string' } } },
        },
        304: empty('You have it: the ETag is one of `If-None-Match`.', iconHeaders),
      },
    },
    () =>
      async ({ ctx }) => {
        ctx.set('Cache-Control', `public, max-age=${daySeconds}`);
        ctx.set('Content-Security-Policy', "default-src 'none'; style-src 'unsafe-inline'; sandbox");
        await icon.send(ctx, 'image/svg+xml');
        return written;
      },
  );

/** GET /favicon.svg */
export const getIcon = iconAt('/favicon.svg', 'getIcon');
/** GET /favicon.ico, which browsers request on their own. They accept an SVG under this name. */
export const getFavicon = iconAt('/favicon.ico', 'getFavicon');
