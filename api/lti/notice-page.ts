import { createHash } from 'node:crypto';
import type { Context } from 'koa';
import { textDirection } from '../../shared/lessons/text-direction.ts';
import type { LtiDependencies } from './dependencies.ts';
import { Html, markup } from '../../shared/platform/html.ts';
import { publicPath } from '../http/public-url.ts';
import { pageStyle } from '../embed/pages.ts';

/** Notices look as those of the embed page do, and may have a button. */
const launchPageStyle = `${pageStyle}
.notice form { margin: 1.5rem 0 0; }
.notice button {
  padding: .6rem 1.2rem; border: 0; border-radius: .5rem; background: #1f5fbf; color: #fff;
  font: inherit; font-weight: 600; cursor: pointer;
}
.notice button:hover { background: #174c9c; }
.notice button:focus-visible { outline: 3px solid #7db0ff; outline-offset: 2px; }
`;

/**
 * It may be in any frame, for platforms are, and there is nothing to click but a way to the platform. Where forms may
 * go is not restricted: browsers hold redirects against it too, and the platform may go on to anybody who logs in
 * its users.
 */
const policy = ["default-src 'none'", "script-src 'self'", 'img-src data:', "base-uri 'none'"];

/** A page that says something to somebody who comes from a learning platform. */
export interface NoticePage {
  language: string;
  title: string;
  main: Html;
  head?: Html | undefined;
  script?: PageScript | undefined;
  /** A page to work on, for which a narrow column is too little. */
  wide?: boolean;
  /** Beside that of all pages. */
  style?: string;
  /** Of the Content-Security-Policy, beside those of all pages. */
  directives?: readonly string[];
}

/** A bundle of the player, by its name without extension, and what it finds in the page. */
export interface PageScript {
  name: string;
  data?: { id: string; value: object };
}

/** Headers of all that is answered to browsers that come from a platform. */
export function setNoticeHeaders(ctx: Context): void {
  ctx.set('Cache-Control', 'no-store');
  // A page that sends a launch again is known by its origin; without an origin browsers would send "null".
  ctx.set('Referrer-Policy', 'same-origin');
  ctx.set('X-Robots-Tag', 'noindex');
}

/** Answers with a page. The status is the caller's to set. */
export function sendNoticePage(
  deps: Pick<LtiDependencies, 'config' | 'player'>,
  ctx: Context,
  { language, title, main, head, script, wide = false, style = '', directives = [] }: NoticePage,
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
${head ?? []}
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
  const address = `${publicPath(config)}/player/${player.name}/${name}.js`;
  const script = markup`<script type="module" src="${address}"></script>`;
  if (data === undefined) return [script];
  return [
    markup`<script type="application/json" id="${data.id}">${scriptJson(data.value)}</script>
`,
    script,
  ];
}

/** Nothing in it ends the script element, or begins a comment there. */
function scriptJson(value: object): Html {
  return new Html(JSON.stringify(value).replaceAll('<', '\\u003c'));
}
