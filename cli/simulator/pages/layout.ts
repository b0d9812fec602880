import type { Html } from '../html.ts';
import { html } from '../html.ts';

/** What pages may do: nothing but their own style, scripts and forms, and frames of tools anywhere. */
export const pagePolicy = [
  "default-src 'none'",
  "style-src 'self'",
  "script-src 'self'",
  "connect-src 'self'",
  'frame-src *',
  "base-uri 'none'",
].join('; ');

export interface PageOptions {
  title: string;
  main: Html;
  /** Paths of scripts. */
  scripts?: readonly string[];
  /** Shown inside a frame of another page: without the links to the others. */
  framed?: boolean;
}

const sections = [
  ['/', 'Courses'],
  ['/grades', 'Grades'],
  ['/tools', 'Tools'],
  ['/messages', 'Messages'],
] as const;

export function page({ title, main, scripts = [], framed = false }: PageOptions): string {
  const links = sections.map(([path, name]) => {
    const current = name === title ? html` aria-current="page"` : html``;
    return html`<li><a href="${path}" ${current}>${name}</a></li>`;
  });
  const header = html`<header>
    <p class="brand">LTI platform simulator</p>
    <nav aria-label="Pages">
      <ul>
        ${links}
      </ul>
    </nav>
  </header>`;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} – LTI platform simulator</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/assets/style.css">
${scripts.map((path) => html`<script type="module" src="${path}"></script>`)}
</head>
<body${framed ? html` class="framed"` : html``}>
${framed ? html`` : header}
<main>
<h1>${title}</h1>
${main}
</main>
</body>
</html>
`.source;
}
