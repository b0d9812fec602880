import { createHash } from 'node:crypto';
import type { Context } from 'koa';
import { textDirection } from '../../shared/i18n/message.ts';
import type { LtiDependencies } from './dependencies.ts';
import { Html, markup } from '../../shared/platform/html.ts';
import { publicPath } from '../http/public-url.ts';
import { pageStyle } from '../embed/pages.ts';

/** Extends the embed page's notices with forms. */
const launchPageStyle = `${pageStyle}
.notice form { margin: 1.5rem 0 0; }
`;

/**
 * The directives of all pages. Any site may frame them, because platforms may be on any site and clickjacking would
 * gain nothing. There is no form-action: browsers apply it to redirects too, and a platform may redirect its users to
 * any login service.
 */
const policy = ["default-src 'none'", "script-src 'self'", "img-src 'self' data:", "base-uri 'none'"];

/** A page for users who come from a learning platform. */
export interface NoticePage {
  language: string;
  title: string;
  main: Html;
  script?: PageScript | undefined;
  /** Whether the page needs more than the narrow column of a notice, as for a form. */
  wide?: boolean;
  /** CSS in addition to that of all pages. */
  style?: string;
  /** Directives of the Content-Security-Policy in addition to those of all pages. */
  directives?: readonly string[];
}

/** A bundle of the player, by its name without extension, and the JSON data that the page holds for it. */
export interface PageScript {
  name: string;
  data?: { id: string; value: object };
}

/** Sets the headers of all responses to browsers that come from a platform. */
export function setNoticeHeaders(ctx: Context): void {
  ctx.set('Cache-Control', 'no-store');
  // Lectern recognizes the page that repeats a launch by its Origin, which browsers would send as "null" otherwise.
  ctx.set('Referrer-Policy', 'same-origin');
  ctx.set('X-Robots-Tag', 'noindex');
}

/** Sends a page. The caller sets the status. */
export function sendNoticePage(
  deps: Pick<LtiDependencies, 'config' | 'player'>,
  ctx: Context,
  { language, title, main, script, wide = false, style = '', directives = [] }: NoticePage,
): void {
  const styles = launchPageStyle + style;
  const styleHash = createHash('sha256').update(styles).digest('base64');
  const own = [...policy, `style-src 'sha256-${styleHash}'`, ...directives];
  ctx.set('Content-Security-Policy', own.join('; '));
  ctx.type = 'html';
  ctx.body = markup`<!doctype html>
<html lang="${language}" dir="${textDirection(language)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title}</title>
<link rel="icon" href="data:,">
<style>${new Html(styles)}</style>
</head>
<body>
<main class="${wide ? 'notice wide' : 'notice'}">
${main}
</main>
${script === undefined ? [] : scriptOf(deps, script)}
</body>
</html>
`.source;
}

function scriptOf(
  { config, player }: Pick<LtiDependencies, 'config' | 'player'>,
  { name, data }: PageScript,
): Html[] {
  const url = `${publicPath(config)}/player/${player.name}/${name}.js`;
  const script = markup`<script type="module" src="${url}"></script>`;
  if (data === undefined) return [script];
  return [
    markup`<script type="application/json" id="${data.id}">${scriptJson(data.value)}</script>
`,
    script,
  ];
}

/** Escapes JSON so that it can neither end the script element nor begin a comment in it. */
function scriptJson(value: object): Html {
  return new Html(JSON.stringify(value).replaceAll('<', '\\u003c'));
}
