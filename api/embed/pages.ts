import { createHash } from 'node:crypto';
import { message } from '../../shared/i18n/message.ts';
import { textDirection } from '../../shared/lessons/text-direction.ts';
import { Html, markup } from '../../shared/platform/html.ts';
import type { BootText, FailureCode } from './boot-data.ts';

/** Styles of the notices in place of a lesson. The player has its own stylesheet. */
export const pageStyle = `
:root { color-scheme: light dark; --back: #fff; --text: #1b2330; --soft: #566072; --line: #d5dbe5; }
@media (prefers-color-scheme: dark) {
  :root { --back: #14181f; --text: #e8ecf3; --soft: #a3aebf; --line: #323b49; }
}
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body { margin: 0; background: var(--back); color: var(--text); }
.notice {
  box-sizing: border-box; max-width: 36rem; margin: 0 auto; padding: 2.5rem 1.25rem;
  font: 1rem/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif;
  overflow-wrap: anywhere;
}
.notice h1 { margin: 0 0 .5rem; font-size: 1.375rem; line-height: 1.3; }
.notice p { margin: 0; }
.notice a { color: inherit; }
.notice p + p { margin-top: 1rem; }
.notice .soft { margin-top: 1.5rem; padding-top: .75rem; border-top: 1px solid var(--line); color: var(--soft); font-size: .875rem; }
.notice code { font-family: ui-monospace, Menlo, Consolas, monospace; }
@media (scripting: none) { .notice .loading { display: none; } }
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
  return renderPage({ ...page, title, main });
}

/** Returns the page of a URL without a token: from a shared link, or for a frame that gets its token later. */
export function waitingPage(page: Omit<PageParts, 'main' | 'title'>): Buffer[] {
  const { language } = page;
  const main = markup`<div data-lectern-waiting>${notice(language, 'waiting')}</div>
<p role="status" data-lectern-delayed="${message(language, 'embed.delayed')}"></p>`;
  return renderPage({ ...page, title: message(language, 'embed.lesson'), main });
}

/**
 * Returns the page that explains a failure.
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
  const back = markup`<p><a href="${returnUrl ?? ''}" target="_top" data-lectern-back>${message(language, 'notice.back')}</a></p>`;
  const main = markup`${notice(language, code)}
${returnUrl === null ? [] : back}
${supportLine(page.language, code, requestId)}`;
  return renderPage({ ...page, title: message(language, `embed.${code}.title`), main });
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
}: PageParts<Text>): (Buffer | Text)[] {
  const description = markup`<link rel="alternate" type="application/json+oembed" href="${oembed ?? ''}">`;
  const { source } = markup`<!doctype html>
<html lang="${language}" dir="${textDirection(language)}">
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
<main id="lectern-page" class="notice">
${main}
</main>
<script type="application/json" id="lectern-boot">${new Html(boundary)}</script>
</body>
</html>
`;
  const [before = '', after = ''] = source.split(boundary);
  return [Buffer.from(before), ...boot, Buffer.from(after)];
}
