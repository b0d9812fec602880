import type { Middleware } from 'koa';
import { tellRefusal } from '../http.ts';
import type { Context, RequestState } from '../http.ts';
import type { Platform } from '../platform.ts';
import { Refusal } from '../refusal.ts';
import { pagePolicy } from './layout.ts';
import { refusedPage } from './return-pages.ts';

/** Answers with a page, under the policy of all pages. */
export function sendHtml(ctx: Context, source: string): void {
  ctx.set('Content-Security-Policy', pagePolicy);
  ctx.set('Cache-Control', 'no-store');
  ctx.type = 'html';
  ctx.body = source;
}

/** Answers a refusal with a page, where a browser shows it, and tells it. */
export function renderRefusedPages(platform: Platform, kind: string): Middleware<RequestState> {
  return async (ctx, next) => {
    try {
      await next();
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      tellRefusal(platform, kind, ctx, error);
      ctx.status = error.status;
      sendHtml(ctx, refusedPage(error));
    }
  };
}
