import { createHash } from 'node:crypto';
import type { Middleware } from 'koa';
import { Html, markup } from '../../shared/platform/html.ts';
import { Rejection, logRejection } from '../http.ts';
import type { Context, RequestState } from '../http.ts';
import type { Platform } from '../platform.ts';
import { hiddenFields } from './forms.ts';
import { pagePolicy } from './layout.ts';
import { rejectionPage } from './return-pages.ts';

/** Sends a page with the Content-Security-Policy of all pages. */
export function sendHtml(ctx: Context, source: string): void {
  ctx.set('Content-Security-Policy', pagePolicy);
  ctx.set('Cache-Control', 'no-store');
  ctx.type = 'html';
  ctx.body = source;
}

/** Renders rejections as pages, and adds them to the journal. */
export function renderRejectionPages(platform: Platform, kind: string): Middleware<RequestState> {
  return async (ctx, next) => {
    try {
      await next();
    } catch (error) {
      if (!(error instanceof Rejection)) throw error;
      logRejection(platform, kind, ctx, error);
      ctx.status = error.status;
      sendHtml(ctx, rejectionPage(error));
    }
  };
}

const script = 'document.forms[0].submit();';
const scriptHash = createHash('sha256').update(script).digest('base64');

/** Allows the script of {@link postPage} only. */
export const postPagePolicy = `default-src 'none'; script-src 'sha256-${scriptHash}'`;

/** Renders a page that posts fields (`response_mode=form_post`), by a script or a button. */
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
