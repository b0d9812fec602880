import type { Context } from '../http.ts';
import { pagePolicy } from './layout.ts';

/** Answers with a page, under the policy of all pages. */
export function sendHtml(ctx: Context, source: string): void {
  ctx.set('Content-Security-Policy', pagePolicy);
  ctx.set('Cache-Control', 'no-store');
  ctx.type = 'html';
  ctx.body = source;
}
