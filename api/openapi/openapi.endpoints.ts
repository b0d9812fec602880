import type Router from '@koa/router';
import type { Context } from 'koa';
import type { RequestState } from '../http/context.ts';
import type { AppDependencies } from '../dependencies.ts';
import { etagOf, isKnown } from '../http/etags.ts';
import { methodNotAllowed } from '../http/middleware/method-not-allowed.ts';
import { apiDocument } from './document.ts';
import { apiPage, pagePolicy } from './page.ts';
import { createRouter } from '../http/router.ts';

/** An upgrade may change them; until then a copy does. */
const cacheSeconds = 300;

interface Page {
  bytes: Buffer;
  etag: string;
}

/** The API's own documentation: for tools, and for people. Each is made once, when it is asked for first. */
export function openApiRoutes({ config }: AppDependencies): Router<RequestState> {
  const router = createRouter();
  const document = once(() => toPage(JSON.stringify(apiDocument(config))));
  const page = once(() => toPage(apiPage(apiDocument(config))));

  router.get('/openapi.json', (ctx) => {
    ctx.set('Access-Control-Allow-Origin', '*');
    send(ctx, 'application/json', document());
  });
  router.get('/docs', (ctx) => {
    ctx.set('Content-Security-Policy', pagePolicy);
    ctx.set('Referrer-Policy', 'no-referrer');
    send(ctx, 'text/html', page());
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
