import type { Middleware } from 'koa';
import type { Context, RequestState } from '../http.ts';
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

/** Answers a refusal with a page, where a browser shows it. */
export const renderRefusedPages: Middleware<RequestState> = async (ctx, next) => {
  try {
    await next();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    ctx.status = error.status;
    sendHtml(ctx, refusedPage(error));
  }
};
