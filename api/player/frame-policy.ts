import { digestSource } from '../../shared/player/player-release.ts';

/**
 * The permissions of the player in the sandbox: scripts, links in new tabs, downloads, forms for their events, and the
 * dialog for printing, which the frames of custom widgets inside it may not open. They cannot navigate the page, and their
 * origin is opaque.
 */
export const frameSandbox = [
  'allow-scripts',
  'allow-forms',
  'allow-popups',
  'allow-popups-to-escape-sandbox',
  'allow-downloads',
  'allow-modals',
].join(' ');

/** Returns a URL, without a slash at its end, as the beginning of sources in a Content-Security-Policy. */
export function baseSource(publicUrl: string): string {
  // A path may contain the separators of directives and policies (CSP 3, 2.3.1).
  return new URL(publicUrl).href.replace(/\/$/, '').replaceAll(';', '%3B').replaceAll(',', '%2C');
}

const inlineScript = /<script type="module">(.*?)<\/script>/s;

/** Returns the CSP source expression of the inline script in a `frame.html`. Each release has its own script. */
export function scriptSourceOf(page: string): string {
  const [, script = ''] = inlineScript.exec(page) ?? [];
  return digestSource(script);
}

/**
 * Returns the Content-Security-Policy of the frame. The frame's origin is opaque, even when it is opened directly. The
 * frame can load lesson files, and pictures and media of any host, but cannot reach the API or its cookies. The frames
 * of custom widgets inside it have the same policy: they run the script of `widget-frame.js`, and modules from blob URLs.
 * `frame-ancestors` is not restricted: it would have to allow all ancestors, including integrators' pages, and the
 * document is empty.
 *
 * @param publicUrl the public URL of this service, which serves the files.
 * @param scriptSource the source expressions of the inline scripts.
 */
export function framePolicy(publicUrl: string, scriptSource: string): string {
  const own = `'self' ${new URL(publicUrl).origin}`;
  const base = baseSource(publicUrl);
  const files = `${base}/content/ ${base}/assets/`;
  return [
    `sandbox ${frameSandbox}`,
    "default-src 'none'",
    `script-src ${own} blob: ${scriptSource}`,
    `style-src ${own} 'unsafe-inline'`,
    'img-src https: http: data: blob:',
    'media-src https: http: data: blob:',
    `font-src ${own} data:`,
    `connect-src ${files} data: blob:`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
}
