import { markup } from '../../shared/platform/html.ts';

/** What widgets in the frame may do of what a sandbox forbids. Forms are for their events: none can be sent. */
const sandbox = [
  'allow-scripts',
  'allow-forms',
  'allow-popups',
  'allow-popups-to-escape-sandbox',
  'allow-downloads',
].join(' ');

/**
 * The document that plays a lesson inside the embed page: the player and the widgets, those of organizations
 * included, in an origin of its own. It knows nothing but what the embed page tells it.
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
 * Its Content-Security-Policy. It has no origin even where it is opened by itself, and reaches files of lessons alone:
 * the API and its cookies stay out of reach. Who may have it in a frame is not restricted: that would have to allow
 * all ancestors, integrators' pages included, and there is nothing in it.
 *
 * @param address by which this service is known: what is loaded from elsewhere than here is there.
 */
export function framePolicy(address: string): string {
  const { origin, href } = new URL(address);
  const own = `'self' ${origin}`;
  // A path may hold what separates directives and policies (CSP 3, 2.3.1).
  const base = href.replace(/\/$/, '').replaceAll(';', '%3B').replaceAll(',', '%2C');
  const files = `${base}/content/ ${base}/assets/`;
  return [
    `sandbox ${sandbox}`,
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
