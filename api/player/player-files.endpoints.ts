import type { Context } from 'koa';
import { z } from 'zod';
import type { Config } from '../../shared/platform/config.ts';
import { LecternError } from '../../shared/platform/errors.ts';
import { framePolicy } from './frame-policy.ts';
import { defineEndpoint, written } from '../http/endpoint.ts';
import { apiErrors } from '../http/error-format.ts';
import type { EncodedFile } from '../http/encoded-file.ts';
import type { Headers } from '../http/headers.ts';
import { openPublicAccess } from '../http/public-access.ts';
import { cacheScope, publicUrlOf } from '../http/public-url.ts';
import { empty, failure } from '../http/responses.ts';
import type { PlayerReleases } from './player-releases.ts';

const yearSeconds = 365 * 24 * 3600;
const hourSeconds = 3600;

const types: Record<string, string> = {
  css: 'text/css',
  html: 'text/html',
  js: 'text/javascript',
};

const fileHeaders: Headers = {
  ETag: z.string(),
  Vary: z.string().meta({ examples: ['Accept-Encoding'] }),
  'Cache-Control': z.string().meta({ examples: ['public, max-age=31536000, immutable'] }),
};
const notFound = 'File not found';

const common = {
  method: 'get',
  access: openPublicAccess('GET, HEAD, OPTIONS'),
  errors: apiErrors(),
  tag: 'Embedding',
} as const;
const notModified = empty('You have it: the ETag is one of `If-None-Match`.', fileHeaders);

interface Dependencies {
  config: Pick<Config, 'publicUrl'>;
  player: PlayerReleases;
}

/**
 * GET /player/{release}/{file}: a file of the player. Its URL contains the release, so the file never changes. Files of
 * other releases are served, too: during an upgrade, their pages may reach this process.
 */
export const getPlayerFile = defineEndpoint(
  {
    ...common,
    path: '/player/:release/:file',
    laterParams: z.object({
      release: z.string().meta({ description: 'The release of the player.', examples: ['0.1.0-5f3a9c21'] }),
      file: z.string().meta({ description: 'The name of the file.', examples: ['player.js'] }),
    }),
    operationId: 'getPlayerFile',
    summary: 'Fetch a file of the player',
    description:
      'A file of a release of the player. It never changes, except the policy of `frame.html`, which is cached for ' +
      'an hour; another release has another URL.',
    responses: {
      200: {
        kind: 'written',
        description: 'The file.',
        headers: fileHeaders,
        content: { '*/*': { schema: { type: 'string' } } },
      },
      304: notModified,
      404: failure('The service does not have the release, or the release has no such file.', notFound),
    },
  },
  ({ config, player }: Dependencies) =>
    async ({ ctx }) => {
      const { release = '', file: name = '' } = ctx.params;
      const { content, type, scriptSource } = await findFile(player, { release, name });
      if (scriptSource === null) {
        await sendFile(ctx, content, type, `public, max-age=${yearSeconds}, immutable`);
      } else {
        ctx.set('Content-Security-Policy', framePolicy(publicUrlOf(ctx, config), scriptSource));
        ctx.set('Referrer-Policy', 'no-referrer');
        // Its policy contains the service's origin, which may change with PUBLIC_URL while the release stays the same.
        await sendFile(ctx, content, type, `${cacheScope(config)}, max-age=${hourSeconds}`);
      }
      return written;
    },
);

/** GET /embed.js: the script of integrators' pages, with a stable URL. */
export const getEmbedScript = defineEndpoint(
  {
    ...common,
    path: '/embed.js',
    operationId: 'getEmbedScript',
    summary: 'Fetch the script for pages that embed lessons',
    description: 'Its URL stays the same; an upgrade of the service may change the script.',
    responses: {
      200: {
        kind: 'written',
        description: 'The script.',
        headers: fileHeaders,
        content: { 'text/javascript': { schema: { type: 'string' } } },
      },
      304: notModified,
      404: failure('It is not built.', notFound),
    },
  },
  ({ player }: Dependencies) =>
    async ({ ctx }) => {
      const { content, type } = await findFile(player, { release: player.name, name: 'embed.js' });
      await sendFile(ctx, content, type, `public, max-age=${hourSeconds}`);
      return written;
    },
);

/** @throws {LecternError} NOT_FOUND if there is no such file. */
async function findFile(player: PlayerReleases, { release, name }: { release: string; name: string }) {
  const type = types[name.split('.').at(-1) ?? ''];
  const file = type === undefined ? null : await player.find(release, name);
  if (file === null || type === undefined) throw new LecternError('NOT_FOUND', notFound);
  return { ...file, type };
}

async function sendFile(
  ctx: Context,
  content: EncodedFile,
  type: string,
  cacheControl: string,
): Promise<void> {
  ctx.set('Cache-Control', cacheControl);
  ctx.set('Cross-Origin-Resource-Policy', 'cross-origin');
  await content.send(ctx, type);
}
