import type { Context } from 'koa';
import { z } from 'zod';
import { readAssetUrl } from '../../shared/media/asset-urls.ts';
import type { Asset } from '../../shared/media/asset-urls.ts';
import { LecternError } from '../../shared/platform/errors.ts';
import type { Secrets } from '../../shared/platform/secrets.ts';
import type { Store } from '../../shared/storage/store.ts';
import { defineEndpoint, written } from '../http/endpoint.ts';
import { apiErrors } from '../http/error-format.ts';
import { errorCodeHeader, fileHeaders, fileRequest, noStore } from '../http/headers.ts';
import type { Headers } from '../http/headers.ts';
import { openPublicAccess } from '../http/public-access.ts';
import { empty, failure } from '../http/responses.ts';
import { invalidSignature, invalidSignatureText } from './content.endpoints.ts';
import { CompressedAssets, isTextType } from './compressed-assets.ts';
import { assetPolicy, isInert } from './inert-types.ts';
import type { ProxyDependencies } from './leave-to-proxy.ts';
import { sendFile } from './send-file.ts';

const methods = 'GET, HEAD, OPTIONS';
const requestHeaders = 'Range, If-Range, If-Match, If-None-Match';
const responseHeaders = `Accept-Ranges, Content-Length, Content-Range, ETag, Repr-Digest, ${errorCodeHeader}`;

const as = (text: z.ZodType<string>, description: string) => text.meta({ description });
const asset = z.strictObject({
  area: as(z.enum(['assets', 'cache']), 'Where the file is kept.'),
  sha256: as(z.string().regex(/^[0-9a-f]{64}$/), 'The SHA-256 of the file, in hex.'),
  size: as(z.string().regex(/^(0|[1-9]\d{0,15})$/), 'Its size in bytes.'),
  type: as(z.string().min(1), 'Its media type, up to the slash.'),
  subtype: as(z.string().min(1), 'The rest of its media type.'),
  fileName: as(z.string().regex(/^[\w.-]+$/), 'Its name.'),
});
const signature = z.strictObject({
  expires: as(z.string().regex(/^[1-9]\d{0,10}$/), 'Expiry of the URL: Unix time in seconds.'),
  signature: as(z.string().regex(/^[\w-]+$/), 'The signature of the whole URL.'),
});

const known: Headers = {
  ...fileHeaders.known,
  Vary: z.string().optional().meta({ description: 'Text files are compressed for clients that accept it.' }),
  'Content-Encoding': z
    .enum(['br', 'gzip'])
    .optional()
    .meta({ description: 'Only of compressed text files.' }),
  'Accept-Ranges': z.literal('bytes').optional().meta({ description: 'Missing with an encoding.' }),
  ETag: z
    .string()
    .regex(/^"[0-9a-f]{64}(?:-(?:br|gzip))?"$/)
    .meta({ description: 'The SHA-256 of the whole file, in hex, with its encoding.' }),
  'Cache-Control': z.string().meta({
    description: 'Caches may keep the file until the URL expires.',
    examples: ['public, max-age=5400, immutable'],
  }),
  'Content-Disposition': z
    .string()
    .optional()
    .meta({
      description:
        'Sent with types that a browser would run or open in a program, so that it downloads them.',
      examples: ['attachment; filename="1619c428-4d84-4e65-8c2b-8847b8aea3b0.pdf"'],
    }),
};
const content = { '*/*': { schema: { type: 'string', format: 'binary' } } } as const;
const notFound = 'File not found';

interface AssetDependencies extends ProxyDependencies {
  store: Store;
  secrets: Pick<Secrets, 'asset'>;
}

/** GET /assets/…: serves a file of the store by its signed URL, without a database query. */
export const getAsset = defineEndpoint(
  {
    method: 'get',
    path: '/assets/*address',
    documentedPath: '/assets/v1/:area/:sha256/:size/:type/:subtype/:fileName',
    access: openPublicAccess(methods, requestHeaders, {
      'Access-Control-Expose-Headers': z
        .literal(responseHeaders)
        .meta({ description: 'Headers that a page may read.' }),
      'Content-Security-Policy': z
        .string()
        .meta({ description: 'A file that is opened directly runs no script and sends no request.' }),
      'Cross-Origin-Resource-Policy': z
        .literal('cross-origin')
        .meta({ description: 'Cross-origin isolated pages may show it too.' }),
      ...noStore,
    }),
    errors: apiErrors(),
    laterParams: asset,
    laterQuery: signature,
    headers: fileRequest,
    operationId: 'getAsset',
    tag: 'Player',
    summary: 'Fetch a file',
    description:
      'A file by its signed URL. Use the URL unchanged. It needs no token, expires at `expires`, and supports one ' +
      '`Range`.',
    sample: ['curl -f -H "Range: bytes=0-1023" -o part "$SIGNED_URL"'],
    responses: {
      200: {
        kind: 'written',
        description: 'The file.',
        headers: {
          ...known,
          ...fileHeaders.whole,
          'Repr-Digest': z
            .string()
            .optional()
            .meta({ description: 'The SHA-256 of the whole file (RFC 9530); missing with an encoding.' }),
        },
        content,
      },
      206: {
        kind: 'written',
        description: 'The requested part.',
        headers: { ...known, ...fileHeaders.part },
        content,
      },
      304: empty('Not modified: the ETag is in `If-None-Match`.', known),
      403: invalidSignature,
      404: failure(
        'The file was removed from the store before its URL expired. Request a new URL, which restores the file.',
        notFound,
      ),
      412: failure(
        'No ETag in `If-Match` is that of the file.',
        `The file has changed: its ETag is now "${'2a3d'.repeat(16)}"`,
      ),
      416: {
        ...failure('The range lies outside the file.', 'The file has 73040 bytes'),
        headers: fileHeaders.outside,
      },
    },
  },
  ({ store, secrets, ...deps }: AssetDependencies) => {
    const compressed = new CompressedAssets();
    return async ({ ctx }) => {
      ctx.set('Access-Control-Expose-Headers', responseHeaders);
      ctx.set('Cross-Origin-Resource-Policy', 'cross-origin');
      ctx.set('Content-Security-Policy', assetPolicy);
      ctx.set('Cache-Control', 'no-store');
      const { expires, signature: signed } = ctx.query;
      const file = readAssetUrl(secrets.asset, { path: ctx.path, expires, signature: signed });
      if (file === null) throw new LecternError('FORBIDDEN', invalidSignatureText);
      const opened = await store[file.area].open(file);
      if (opened === null) throw new LecternError('NOT_FOUND', notFound);
      const { sha256, mimeType } = file;
      const isText = isTextType(mimeType);
      if (isText) ctx.vary('Accept-Encoding');
      if (isText && (await compressed.send(ctx, opened, sha256))) describe(ctx, file);
      else await sendFile(ctx, opened, { deps, sha256, describe: () => describe(ctx, file) });
      return written;
    };
  },
);

function describe(ctx: Context, { mimeType, fileName, expiresAt }: Asset & { expiresAt: Date }): void {
  const seconds = Math.floor((expiresAt.getTime() - Date.now()) / 1000);
  ctx.set('Cache-Control', `public, max-age=${Math.max(seconds, 0)}, immutable`);
  const inert = isInert(mimeType);
  if (ctx.status !== 304) ctx.type = inert ? mimeType : 'application/octet-stream';
  if (!inert) ctx.set('Content-Disposition', `attachment; filename="${fileName}"`);
}
