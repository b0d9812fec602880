import type { Html } from '../../shared/platform/html.ts';
import { markup } from '../../shared/platform/html.ts';

/** Allows pages their own styles, scripts and requests, and frames of any tool. */
export const pagePolicy = [
  "default-src 'none'",
  "style-src 'self'",
  "script-src 'self'",
  "connect-src 'self'",
  'img-src data:',
  'frame-src *',
  "base-uri 'none'",
].join('; ');

export interface PageOptions {
  title: string;
  main: Html;
  /** Paths of scripts. */
  scripts?: readonly string[];
  /** Whether the page is shown in a frame, without navigation. */
  framed?: boolean;
  /** The name of the storage frame; null if the platform offers no storage. */
  storageFrame?: string | null;
}

const sections = [
  ['/', 'Courses'],
  ['/grades', 'Grades'],
  ['/tools', 'Tools'],
  ['/messages', 'Messages'],
] as const;

const nothing = markup``;

export function page({
  title,
  main,
  scripts = [],
  framed = false,
  storageFrame = null,
}: PageOptions): string {
  const storage = storageFrame === null ? nothing : markup` data-storage-frame="${storageFrame}"`;
  const scriptTags = scripts.map((path) => markup`<script type="module" src="${path}"></script>\n`);
  return markup`<!doctype html>
<html lang="en"${storage}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} – LTI platform simulator</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/assets/style.css">
${scriptTags}</head>
<body${framed ? markup` class="framed"` : nothing}>
${framed ? nothing : header(title)}
<main>
<h1>${title}</h1>
${main}
</main>
</body>
</html>
`.source;
}

function header(title: string): Html {
  const links = sections.map(([path, name]) => {
    const current = name === title ? markup` aria-current="page"` : nothing;
    return markup`<li><a href="${path}"${current}>${name}</a></li>\n`;
  });
  return markup`<header>
<p class="brand">LTI platform simulator</p>
<nav aria-label="Pages"><ul>
${links}</ul></nav>
</header>`;
}
