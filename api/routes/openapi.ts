import type Router from '@koa/router';
import type { Context } from 'koa';
import type { RequestState } from '../context.ts';
import type { AppDependencies } from '../dependencies.ts';
import { etagOf, isKnown } from '../etags.ts';
import { methodNotAllowed } from '../middleware/method-not-allowed.ts';
import { createRouter } from './router.ts';

/** An upgrade may change them; until then a copy does. */
const cacheSeconds = 300;

interface Page {
  bytes: Buffer;
  etag: string;
}

/**
 * The API's own documentation: for tools, and for people. Each is made once, when it is asked for first, with code
 * that is loaded for it.
 */
export function openApiRoutes({ config }: AppDependencies): Router<RequestState> {
  const router = createRouter();
  const document = once(async () => {
    const { apiDocument } = await import('../openapi/document.ts');
    return toPage(JSON.stringify(apiDocument(config)));
  });
  const page = once(async () => {
    const [{ apiDocument }, { apiPage, pagePolicy }] = await Promise.all([
      import('../openapi/document.ts'),
      import('../openapi/page.ts'),
    ]);
    return { ...toPage(apiPage(apiDocument(config))), policy: pagePolicy };
  });

  router.get('/openapi.json', async (ctx) => {
    ctx.set('Access-Control-Allow-Origin', '*');
    send(ctx, 'application/json', await document());
  });
  router.get('/docs', async (ctx) => {
    const { policy, ...content } = await page();
    ctx.set('Content-Security-Policy', policy);
    ctx.set('Referrer-Policy', 'no-referrer');
    send(ctx, 'text/html', content);
  });

  router.all(['/openapi.json', '/docs'], methodNotAllowed('GET, HEAD'));
  return router;
}

function send(ctx: Context, type: string, { bytes, etag }: Page): void {
  ctx.set('Cache-Control', `public, max-age=${cacheSeconds}`);
  ctx.set('ETag', etag);
  ctx.status = 200;
  if (isKnown(ctx, etag)) {
    ctx.status = 304;
    return;
  }
  ctx.type = type;
  ctx.body = bytes;
}

function toPage(text: string): Page {
  const bytes = Buffer.from(text);
  return { bytes, etag: etagOf(bytes) };
}

function once<Value>(make: () => Value): () => Value {
  let made: { value: Value } | undefined;
  return () => (made ??= { value: make() }).value;
}
