import { markup } from '../../shared/platform/html.ts';

/**
 * The permissions of the player and widgets in the sandbox: scripts, links in new tabs, downloads, and forms for their
 * events. They cannot navigate the page, and their origin is opaque.
 */
export const frameSandbox = [
  'allow-scripts',
  'allow-forms',
  'allow-popups',
  'allow-popups-to-escape-sandbox',
  'allow-downloads',
].join(' ');

/**
 * The document that plays a lesson inside the embed page. The player and the widgets, including those of organizations,
 * have an opaque origin there. All its data comes from the embed page.
 */
export const framePage = markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Lesson</title>
<link rel="stylesheet" href="frame.css">
<script type="module" src="frame.js"></script>
</head>
<body></body>
</html>
`.source;

/**
 * Returns the Content-Security-Policy of the frame. The frame's origin is opaque, even when it is opened by itself. It
 * can load lesson files, and pictures and media of any host, but cannot reach the API or its cookies. `frame-ancestors`
 * is not restricted: it would have to allow all ancestors, including integrators' pages, and the document is empty.
 *
 * @param publicUrl the public URL of this service, which serves the files.
 */
export function framePolicy(publicUrl: string): string {
  const { origin, href } = new URL(publicUrl);
  const own = `'self' ${origin}`;
  // A path may contain the separators of directives and policies (CSP 3, 2.3.1).
  const base = href.replace(/\/$/, '').replaceAll(';', '%3B').replaceAll(',', '%2C');
  const files = `${base}/content/ ${base}/assets/`;
  return [
    `sandbox ${frameSandbox}`,
    "default-src 'none'",
    `script-src ${own}`,
    `style-src ${own} 'unsafe-inline'`,
    'img-src https: http: data: blob:',
    'media-src https: http: data: blob:',
    `font-src ${own} data:`,
    `connect-src ${files} data: blob:`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
}
