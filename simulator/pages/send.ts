import { createHash } from 'node:crypto';
import type { Middleware } from 'koa';
import { Html, markup } from '../../shared/platform/html.ts';
import { Refusal, tellRefusal } from '../http.ts';
import type { Context, RequestState } from '../http.ts';
import type { Platform } from '../platform.ts';
import { hiddenFields } from './forms.ts';
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

const script = 'document.forms[0].submit();';
const scriptHash = createHash('sha256').update(script).digest('base64');

/** Of the only script that a page of {@link postPage} may run. */
export const postPagePolicy = `default-src 'none'; script-src 'sha256-${scriptHash}'`;

/** A page that posts fields to an address by itself: `response_mode=form_post`. Without JavaScript, by a button. */
export function postPage(action: string, fields: Readonly<Record<string, string>>): string {
  return markup`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Opening the tool</title></head>
<body>
<form method="post" action="${action}">
${hiddenFields(fields)}<noscript><button>Open the tool</button></noscript>
</form>
<script>${new Html(script)}</script>
</body>
</html>
`.source;
}
