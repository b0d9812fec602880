import { message, supportedLanguage, textDirection } from '../../shared/i18n/message.ts';
import { compactJson } from '../../shared/lessons/json-pieces.ts';
import { joinSmallTexts } from '../../shared/platform/gzip-pieces.ts';
import { scriptText } from '../../shared/platform/html.ts';
import { schemeAttribute } from '../../shared/theme/tokens.ts';
import type { Scheme } from '../../shared/theme/tokens.ts';
import type { MediaAttribution } from '../../shared/lessons/player-lesson.ts';

/** A file of the archive; each call reads it from the start. */
export type TextSource = () => AsyncIterable<Uint8Array>;

/** The content of index.html. It contains all texts, because a page opened from a folder cannot load any. */
export interface IndexPage {
  /** `text` is that of lesson.json, without spaces. */
  lesson: { title: string; language: string | null; text: TextSource };
  versionId: string;
  /** The widgets that are not part of the player. */
  widgets: { type: string; js: TextSource; css: TextSource | null }[];
  captions: { path: string; text: TextSource }[];
  /** Media of custom widgets, whose frames cannot read files of a folder. */
  media: { path: string; mimeType: string; bytes: TextSource }[];
  attributions: MediaAttribution[];
}

/** The theme of a page. */
export interface PageTheme {
  css: string;
  /** Undefined if the page follows the device. */
  scheme: Scheme | undefined;
  logo: { src: string; alt: string } | null;
}

/** How a page plays its lesson. */
export interface PageScripts {
  /** The scripts in player/, in the order of loading. */
  scripts: readonly string[];
  /** The CSP source expression of the script in the frames of custom widgets. */
  widgetFrameSource: string;
  /** More sources from which scripts may fetch until the page's script narrows them. */
  connect?: string;
  /** The settings that the last script of a package reads from the page, as JSON. */
  settings?: object;
  /** Null for Lectern's own look. */
  theme?: PageTheme | null;
}

/**
 * Returns the policy of pages that open from a server or a folder. Everything comes from the archive; the page's script
 * narrows it to the archive's folder (`confinePage`), and for a package whose server is known only at its launch, to
 * that server. The frames of custom widgets have the same policy.
 */
const contentSecurityPolicy = ({ widgetFrameSource, connect = '' }: PageScripts) =>
  [
    "default-src 'none'",
    `script-src 'self' file: blob: ${widgetFrameSource}`,
    "style-src 'self' file: 'unsafe-inline'",
    "img-src 'self' file: data: blob:",
    "media-src 'self' file: data: blob:",
    "font-src 'self' file: data:",
    `connect-src 'self'${connect} data: blob:`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');

/**
 * The fallback colors are for a page whose player is missing. It shows a message after a delay, which no other page
 * does.
 */
const style = `
body { margin: 0; background: var(--lectern-page, Canvas); color: var(--lectern-text, CanvasText) }
.lectern-page-note { margin: 3rem auto; padding: 0 1rem; max-width: 40rem; font: 1rem/1.5 system-ui, sans-serif }
p.lectern-page-note { animation: lectern-page-note 0s 3s both }
@keyframes lectern-page-note { from { visibility: hidden } }
`;

/** The bar of packages for learning platforms. */
const barStyle = `
.lectern-package-bar {
  display: flex; flex-wrap: wrap; align-items: center; justify-content: end; gap: 0.5rem 1rem;
  box-sizing: border-box; max-inline-size: 84rem; margin: 0 auto; padding: 0.5rem clamp(1rem, 3vw, 2.5rem);
  color: var(--lectern-text, CanvasText); font: 0.9375rem/1.5 var(--lectern-font, system-ui, sans-serif);
}
.lectern-package-bar [hidden] { display: none }
.lectern-package-note { flex: 1 1 16rem; margin: 0 }
`;

/**
 * Yields the index.html of an archive with the player, which plays the lesson from a server or from a folder. Equal
 * content gives equal bytes. Files are read while the page is written, and are never in memory as a whole.
 */
export async function* indexPage(page: IndexPage, scripts: PageScripts): AsyncGenerator<Uint8Array> {
  for await (const text of pageTexts(page, scripts)) yield Buffer.from(text);
}

async function* pageTexts(page: IndexPage, pageScripts: PageScripts): AsyncGenerator<string> {
  const { scripts, settings, theme = null } = pageScripts;
  const { title, language: given } = page.lesson;
  const language = typeof given === 'string' && given !== '' ? given : 'en';
  const messageLanguage = supportedLanguage(language) === undefined ? 'en' : language;
  const ownLanguage = `lang="${messageLanguage}" dir="${textDirection(messageLanguage)}"`;
  yield `<!doctype html>
<html lang="${escapeHtml(language)}" dir="${textDirection(language)}"${schemeOf(theme)}>
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${contentSecurityPolicy(pageScripts)}">
<meta http-equiv="x-dns-prefetch-control" content="off">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title>
<link rel="stylesheet" href="./player/player.css">
<style>${settings === undefined ? style : style + barStyle}</style>
${theme === null ? '' : `<style>\n${theme.css}\n</style>\n`}</head>
<body>
<main id="lectern-lesson">
<noscript><div class="lectern-page-note" ${ownLanguage}>${escapeHtml(message(language, 'page.noScript'))}</div></noscript>
<p class="lectern-page-note" ${ownLanguage}>${escapeHtml(message(language, 'archive.notUnpacked'))}</p>
<p class="lectern-page-note" ${ownLanguage}>${escapeHtml(message(language, 'page.oldBrowser'))}</p>
</main>
`;
  yield '<script type="application/json" id="lectern-lesson-json">';
  for await (const text of decoded(page.lesson.text())) yield scriptText(text);
  yield '</script>\n';
  yield '<script type="application/json" id="lectern-archive-json">';
  yield* archiveJson(page, theme?.logo ?? null);
  yield '</script>\n';
  if (settings !== undefined)
    yield `<script type="application/json" id="lectern-package-json">${safeJson(settings)}</script>\n`;
  for (const script of scripts) yield `<script src="./player/${script}"></script>\n`;
  yield '</body>\n</html>\n';
}

/**
 * Yields `{versionId, attributions, widgets: {<type>: {js, css}}, captions: {<path>: <text>}, media: {<path>: <data URL>},
 * logo?}`.
 */
async function* archiveJson(
  { versionId, attributions, widgets, captions, media }: IndexPage,
  logo: PageTheme['logo'],
): AsyncGenerator<string> {
  yield `{"versionId":${safeJson(versionId)},"attributions":`;
  // In pieces: a package may have 60 MB of credits.
  for (const text of joinSmallTexts(compactJson(attributions))) yield scriptText(text);
  yield ',"widgets":{';
  for (const [index, { type, js, css }] of widgets.entries()) {
    yield `${index === 0 ? '' : ','}${safeJson(type)}:{"js":`;
    yield* jsonString(js());
    yield ',"css":';
    if (css === null) yield 'null';
    else yield* jsonString(css());
    yield '}';
  }
  yield '},"captions":{';
  for (const [index, { path, text }] of captions.entries()) {
    yield `${index === 0 ? '' : ','}${safeJson(path)}:`;
    yield* jsonString(text());
  }
  yield '},"media":{';
  for (const [index, { path, mimeType, bytes }] of media.entries()) {
    yield `${index === 0 ? '' : ','}${safeJson(path)}:${safeJson(`data:${mimeType};base64,`).slice(0, -1)}`;
    yield* base64(bytes());
    yield '"';
  }
  yield logo === null ? '}}' : `},"logo":${safeJson(logo)}}`;
}

/** Returns the attribute of a page that does not follow the device. */
function schemeOf(theme: PageTheme | null): string {
  return theme?.scheme === undefined ? '' : ` ${schemeAttribute}="${theme.scheme}"`;
}

async function* base64(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let rest = Buffer.alloc(0);
  for await (const chunk of chunks) {
    const bytes = Buffer.concat([rest, chunk]);
    // Only groups of three bytes can be encoded one after the other.
    const whole = bytes.length - (bytes.length % 3);
    yield bytes.toString('base64', 0, whole);
    rest = bytes.subarray(whole);
  }
  yield rest.toString('base64');
}

async function* jsonString(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  yield '"';
  for await (const text of decoded(chunks)) yield safeJson(text).slice(1, -1);
  yield '"';
}

async function* decoded(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  // The decoder holds back the bytes of an incomplete character.
  const decoder = new TextDecoder();
  for await (const chunk of chunks) yield decoder.decode(chunk, { stream: true });
  yield decoder.decode();
}

/** Returns JSON for a script element: no `</script>` can end it, and no `<!--` can hide its end. */
function safeJson(value: unknown): string {
  return scriptText(JSON.stringify(value));
}

/** Escapes text for HTML as in all earlier archives: a rebuilt archive has equal bytes. Elsewhere, use `markup`. */
function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}
