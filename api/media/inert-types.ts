/** Types that browsers show or play, and never run as a page. */
const inertFamilies = /^(image|audio|video|font)\/[\w.+-]+$/;

/** Browsers treat these as pages. */
const xmlSuffix = /\+xml$/;

const inertTypes = new Set([
  'application/json',
  'application/ogg',
  'image/svg+xml',
  'text/css',
  'text/javascript',
  'text/plain',
  'text/vtt',
]);

/**
 * Returns whether a file may be served with its own type. Scripts and stylesheets may, because they are text when
 * opened directly. An SVG can contain scripts, which {@link assetPolicy} blocks.
 */
export function isInert(mimeType: string): boolean {
  return inertTypes.has(mimeType) || (inertFamilies.test(mimeType) && !xmlSuffix.test(mimeType));
}

/**
 * The Content-Security-Policy of every asset. An asset that is opened directly becomes a page with an opaque origin,
 * and without scripts, requests, forms and plugins. SVGs keep their styles.
 */
export const assetPolicy =
  "default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; form-action 'none'; sandbox";
