import { createHash } from 'node:crypto';
import { message, textDirection } from '../../shared/i18n/message.ts';
import { schemeAttribute, tokensCss } from '../../shared/theme/tokens.ts';
import type { Scheme } from '../../shared/theme/tokens.ts';
import { Html, markup } from '../../shared/platform/html.ts';
import { frameSandbox } from '../player/frame-policy.ts';
import type { BootText, FailureCode } from './boot-data.ts';

/** Styles of the notices in place of a lesson: a card in the middle of the page. The player has its own stylesheet. */
export const pageStyle = `
${tokensCss()}
:root { color-scheme: var(--lectern-scheme); }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body { margin: 0; background: var(--lectern-page); color: var(--lectern-text); }
.notice {
  box-sizing: border-box; max-inline-size: 34rem; margin: clamp(1rem, 12vh, 6rem) auto; padding: 2rem clamp(1.25rem, 5vw, 2.25rem);
  border: 1px solid var(--lectern-line); border-radius: calc(var(--lectern-radius) * 1.4);
  background: var(--lectern-surface); font: 1rem/1.55 var(--lectern-font); overflow-wrap: anywhere;
}
@media (max-width: 36rem) { .notice { margin-inline: 1rem; } }
.notice h1 { margin: 0 0 .5rem; color: var(--lectern-text-strong); font-size: 1.375rem; line-height: 1.3; text-wrap: balance; }
.notice p { margin: 0; }
.notice a { color: var(--lectern-accent); }
.notice p + p { margin-top: 1rem; }
.notice :focus-visible { outline: 3px solid var(--lectern-accent); outline-offset: 2px; }
.notice .soft { margin-top: 1.5rem; padding-top: .75rem; border-top: 1px solid var(--lectern-line); color: var(--lectern-text-muted); font-size: .875rem; }
.notice code { font-family: var(--lectern-font-mono); }
.notice .actions { display: flex; flex-wrap: wrap; align-items: center; gap: .75rem 1.25rem; margin-top: 1.5rem; }
.notice button, .notice .button {
  box-sizing: border-box; min-block-size: 2.75rem; padding: .5625rem 1.25rem; border: 1px solid var(--lectern-accent);
  border-radius: var(--lectern-radius); background: var(--lectern-accent); color: var(--lectern-on-accent);
  font: 600 1rem/1.4 var(--lectern-font); text-decoration: none; cursor: pointer;
}
.notice :is(button, .button):hover { border-color: var(--lectern-accent-strong); background: var(--lectern-accent-strong); }
.notice [hidden] { display: none; }
.notice.loading-page { border-color: transparent; background: none; }
/* Hidden for the first 300 ms: laying it out and painting it for a moment would delay the lesson. */
@media (scripting) { .loading-page { animation: loading-page 1ms 300ms backwards; } }
@keyframes loading-page { from, to { content-visibility: hidden; } }
@media (scripting: none) { .notice .loading { display: none; } }
/* Shown when the script, which removes it, has not run for some seconds. */
.notice .old-browser { margin-top: 1rem; animation: old-browser 0s 5s both; }
@keyframes old-browser { from { visibility: hidden; } }
`;

export const pageStyleHash = createHash('sha256').update(pageStyle).digest('base64');

const boundary = '<!--boot-->';

/** URLs in a page, absolute or paths. */
export interface PageUrls {
  /** The folder of the player's files, with a slash at the end. */
  player: string;
  /** The page's oEmbed description; null if the lesson is unknown. */
  oembed: string | null;
}

interface PageParts<Text = Buffer> {
  language: string;
  title: string;
  main: Html;
  urls: PageUrls;
  boot: readonly Text[];
  /**
   * The steps of the chunk in the page. They are not in `boot`, because the page's script forwards them as text.
   * Undefined for a notice.
   */
  steps?: Text;
  /** Undefined if the page follows the device. */
  scheme: Scheme | undefined;
  /** The frame that will show the lesson; undefined for a notice. */
  frame?: Html;
}

/** Returns the page that plays a lesson, as it looks before its script runs. @param titleLanguage the lesson's */
export function lessonPage({
  title,
  titleLanguage,
  ...page
}: Omit<PageParts<BootText>, 'main'> & { titleLanguage: string }): BootText[] {
  const { language } = page;
  const main = markup`<h1 lang="${titleLanguage}" dir="${textDirection(titleLanguage)}">${title}</h1>
<p class="loading" role="status">${message(language, 'lesson.loading')}</p>
<noscript><p>${message(language, 'page.noScript')}</p></noscript>`;
  // In the HTML, so that the frame and the page's script load in parallel.
  const frame = markup`<iframe class="lectern-embed-frame" hidden sandbox="${frameSandbox}" src="${page.urls.player}frame.html" title="${title}" referrerpolicy="no-referrer" allow="fullscreen; autoplay"></iframe>`;
  return renderPage({ ...page, title, main, frame });
}

/** Returns the page of a URL without a token: from a shared link, or for a frame that gets its token later. */
export function waitingPage(page: Omit<PageParts, 'main' | 'title'>): Buffer[] {
  const { language } = page;
  const main = markup`<div data-lectern-waiting>${notice(language, 'waiting')}</div>
<p role="status" data-lectern-delayed="${message(language, 'embed.delayed')}"></p>`;
  return renderPage({ ...page, title: message(language, 'embed.lesson'), main });
}

/** Failures that a retry may fix. */
const temporaryCodes: readonly FailureCode[] = ['too_many_requests', 'server_error'];

/**
 * Returns the page that explains a failure, with a button for a retry where that may help.
 *
 * @param requestId the request's id in the log
 * @param returnUrl the course; null if unknown
 */
export function failurePage(
  code: FailureCode,
  requestId: string,
  returnUrl: string | null,
  page: Omit<PageParts, 'main' | 'title'>,
): Buffer[] {
  const { language } = page;
  const retry = markup`<button type="button" data-lectern-retry hidden>${message(language, 'notice.reload')}</button>`;
  const back = markup`<a class="button" href="${returnUrl ?? ''}" target="_top" data-lectern-back>${message(language, 'notice.back')}</a>`;
  const isTemporary = temporaryCodes.includes(code);
  const actions = [...(isTemporary ? [retry] : []), ...(returnUrl === null ? [] : [back])];
  const main = markup`${notice(language, code)}
${actions.length === 0 ? [] : markup`<div class="actions">${actions}</div>`}
${supportLine(page.language, code, requestId)}`;
  return renderPage({ ...page, title: message(language, `embed.${code}.title`), main });
}

/** Returns the line for browsers in which the page's script does not run. The script removes it. */
export function oldBrowserLine(language: string): Html {
  return markup`<p class="old-browser">${message(language, 'page.oldBrowser')}</p>`;
}

/** Returns the line that a learner sends to support: the failure's code, and the request's id in the log. */
export function supportLine(language: string, code: string, requestId: string): Html {
  return markup`<p class="soft">${message(language, 'page.supportCode')}: <code dir="ltr">${code}</code><br>
${message(language, 'page.requestId')}: <code dir="ltr">${requestId}</code></p>`;
}

function notice(language: string, name: FailureCode | 'waiting'): Html {
  return markup`<h1>${message(language, `embed.${name}.title`)}</h1>
<p>${message(language, `embed.${name}.text`)}</p>`;
}

function renderPage<Text extends Buffer | BootText>({
  language,
  title,
  main,
  urls: { player, oembed },
  boot,
  steps,
  scheme,
  frame,
}: PageParts<Text>): (Buffer | Text)[] {
  const description = markup`<link rel="alternate" type="application/json+oembed" href="${oembed ?? ''}">`;
  const stepsScript = markup`<script type="application/json" id="lectern-steps">${new Html(boundary)}</script>`;
  const { source } = markup`<!doctype html>
<html lang="${language}" dir="${textDirection(language)}"${scheme === undefined ? [] : new Html(` ${schemeAttribute}="${scheme}"`)}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title}</title>
<link rel="icon" href="data:,">
${oembed === null ? [] : description}
<style>${new Html(pageStyle)}</style>
<link rel="stylesheet" href="${player}embed-page.css">
<script type="module" src="${player}embed-page.js"></script>
</head>
<body>
<div id="lectern-lesson">
<main id="lectern-page" class="${frame === undefined ? 'notice' : 'notice loading-page'}">
${main}
${oldBrowserLine(language)}
</main>
${frame ?? []}
</div>
<script type="application/json" id="lectern-boot">${new Html(boundary)}</script>
${steps === undefined ? [] : stepsScript}
</body>
</html>
`;
  const [before = '', between = '', after = ''] = source.split(boundary);
  const rest = steps === undefined ? [] : [steps, Buffer.from(after)];
  return [Buffer.from(before), ...boot, Buffer.from(between), ...rest];
}
